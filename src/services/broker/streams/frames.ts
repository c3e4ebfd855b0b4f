/** What goes over the wire for a message: made once, however many read it. */
import type { LogPlace, Passed } from '#kernel'
import type { BrokerMessage, StreamedMessage, Subscription } from '../contract.ts'

/** Bytes of one message in each form. */
export interface Frame {
  /** a line of JSON without its end */
  readonly text: Buffer
  readonly line: Buffer
  readonly event: Buffer
  /** with its id: `{"id":...,"data":...}` */
  readonly marked: Buffer
  readonly markedLine: Buffer
}

const NUMBER = /^\d{1,15}$/
/** partitions that one id may name */
const MAX_PLACES = 64

export class Frames {
  readonly #made = new WeakMap<StreamedMessage, Partial<Record<keyof Frame, Buffer>>>()
  readonly #texts = new WeakMap<BrokerMessage, string>()
  readonly #life: string
  readonly #store: string | undefined

  /** `life` tells the numbers of this process from those of others, `store` the places of one store's logs from others'. */
  constructor(life: string, store?: string) {
    this.#life = life
    this.#store = store
  }

  of(message: StreamedMessage, form: keyof Frame): Buffer {
    let made = this.#made.get(message)
    if (made === undefined) this.#made.set(message, (made = {}))
    return (made[form] ??= Buffer.from(this.#write(message, form)))
  }

  /** What a reader says that it saw last; `isForeign`: that cannot be told, so what came since then is not known. */
  cameBack(id: string | undefined): { readonly seen: ReturnType<Frames['seenBy']>; readonly isForeign: boolean } {
    const seen = id === undefined ? undefined : this.seenBy(id)
    return { seen, isForeign: id !== undefined && seen === undefined }
  }

  /** What a reader saw last: by its number in this life, or else by its place in the log; `undefined` when neither can be told. */
  seenBy(id: string): Pick<Subscription, 'after' | 'since'> | undefined {
    const [life, number = '', store, ...place] = id.split('.')
    const isOwn = life === this.#life && NUMBER.test(number)
    const since = this.#store !== undefined && store === this.#store ? readPlace(place) : undefined
    if (!isOwn && since === undefined) return undefined
    return { ...(isOwn && { after: Number(number) }), ...(since !== undefined && { since }) }
  }

  /** The sign of life of server-sent events: who comes back with its id has missed nothing up to then. */
  beat(passed: Passed | undefined): string {
    return this.#isPlaced(passed) ? `id: ${this.#idOf(passed)}\ndata: {}\n\n` : 'data: {}\n\n'
  }

  /** The same where messages come with their ids in JSON. */
  markedBeat(passed: Passed | undefined): string {
    return this.#isPlaced(passed) ? `{"id":"${this.#idOf(passed)}"}` : '{}'
  }

  #isPlaced(passed: Passed | undefined): passed is Passed {
    return passed?.place !== undefined && this.#store !== undefined
  }

  #idOf({ number, place }: Passed): string {
    // what comes from the log has no number here
    const own = number === 0 ? '-.0' : `${this.#life}.${number}`
    if (place === undefined || this.#store === undefined) return own
    return `${own}.${this.#store}.${textOf(place)}`
  }

  #write(message: StreamedMessage, form: keyof Frame): string {
    const { value } = message
    let text = this.#texts.get(value)
    if (text === undefined) this.#texts.set(value, (text = JSON.stringify(value)))
    switch (form) {
      case 'text':
        return text
      case 'line':
        return `${text}\n`
      case 'marked':
        return `{"id":"${this.#idOf(message)}","data":${text}}`
      case 'markedLine':
        return `{"id":"${this.#idOf(message)}","data":${text}}\n`
      case 'event':
        return `id: ${this.#idOf(message)}\ndata: ${text}\n\n`
    }
  }
}

/** A partition has three numbers, and the only one of a tenant two. */
function textOf({ position, count, partition, others = [] }: LogPlace): string {
  const own = `${position}.${count}`
  if (partition === undefined && others.length === 0) return own
  return [`${own}.${partition ?? 0}`, ...others.map(textOf)].join('.')
}

function readPlace(texts: readonly string[]): LogPlace | undefined {
  if (texts.length > 3 * MAX_PLACES || !texts.every((one) => NUMBER.test(one))) return undefined
  const places: LogPlace[] = []
  for (let at = 0; at < texts.length; at += 3) {
    const [position, count, partition] = texts.slice(at, at + 3).map(Number)
    if (position === undefined || count === undefined) return undefined
    places.push({ position, count, ...(partition !== undefined && { partition }) })
  }
  const [first, ...others] = places
  return first && (others.length === 0 ? first : { ...first, others })
}
