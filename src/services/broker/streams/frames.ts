/** Formats messages for the wire, serializing each once for all readers. */
import type { LogPosition, Passed } from '#kernel'
import type { BrokerMessage, StreamedMessage, Subscription } from '../contract.ts'

export type Form = 'text' | 'line' | 'marked' | 'markedLine' | 'event'

const LINES: ReadonlySet<Form> = new Set(['line', 'markedLine'])
const MARKED: ReadonlySet<Form> = new Set(['marked', 'markedLine'])
const NUMBER = /^\d{1,15}$/

export class Frames {
  readonly #made = new WeakMap<StreamedMessage, Partial<Record<Form, Buffer>>>()
  readonly #texts = new WeakMap<BrokerMessage, string>()
  readonly #life: string
  readonly #store: string | undefined

  /** `life` identifies the message numbers of this process; `store` identifies the log positions of its store. */
  constructor(life: string, store?: string) {
    this.#life = life
    this.#store = store
  }

  of(message: StreamedMessage, form: Form): Buffer {
    let made = this.#made.get(message)
    if (made === undefined) this.#made.set(message, (made = {}))
    return (made[form] ??= Buffer.from(this.#write(message, form)))
  }

  /** `isForeign`: the id is neither a message number of this process nor a place in the log. */
  cameBack(id: string | undefined): {
    readonly seen: Pick<Subscription, 'after' | 'since'>
    readonly isForeign: boolean
  } {
    const [life, number = '', store, ...position] = id?.split('.') ?? []
    const isOwn = life === this.#life && NUMBER.test(number)
    const since = this.#store !== undefined && store === this.#store ? readPosition(position) : undefined
    const seen = { ...(isOwn && { after: Number(number) }), ...(since !== undefined && { since }) }
    return { seen, isForeign: id !== undefined && !isOwn && since === undefined }
  }

  /** Formats a heartbeat. A reader that resumes from its id has missed nothing before it. */
  beat(form: Form, passed: Passed | undefined): string {
    const id = passed?.place !== undefined && this.#store !== undefined ? this.#idOf(passed) : undefined
    if (form === 'event') return `${id === undefined ? '' : `id: ${id}\n`}data: {}\n\n`
    return ended(form, id === undefined || !MARKED.has(form) ? '{}' : `{"id":"${id}"}`)
  }

  #idOf({ number, place }: Passed): string {
    // messages from the log have no number in this process
    const numbered = number === 0 ? '-.0' : `${this.#life}.${number}`
    if (place === undefined || this.#store === undefined) return numbered
    return `${numbered}.${this.#store}.${place.position}.${place.count}`
  }

  #write(message: StreamedMessage, form: Form): string {
    const { value } = message
    let text = this.#texts.get(value)
    if (text === undefined) this.#texts.set(value, (text = JSON.stringify(value)))
    if (form === 'event') return `id: ${this.#idOf(message)}\ndata: ${text}\n\n`
    return ended(form, MARKED.has(form) ? `{"id":"${this.#idOf(message)}","data":${text}}` : text)
  }
}

export function gapIn(form: Form): string | undefined {
  if (form === 'event') return 'event: gap\ndata: {}\n\n'
  return MARKED.has(form) ? ended(form, '{"gap":true}') : undefined
}

function ended(form: Form, text: string): string {
  return LINES.has(form) ? `${text}\n` : text
}

function readPosition(texts: readonly string[]): LogPosition | undefined {
  if (texts.length !== 2 || !texts.every((one) => NUMBER.test(one))) return undefined
  const [position = 0, count = 0] = texts.map(Number)
  return { position, count }
}
