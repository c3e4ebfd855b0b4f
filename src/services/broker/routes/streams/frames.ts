/** What goes over the wire for a message: made once, however many read it. */
import type { Passed } from '../../../../kernel/feed.ts'
import type { BrokerMessage, StreamedMessage, Subscription } from '../../contract.ts'

/** Bytes of one message in each form. */
export interface Frame {
  /** a line of JSON without its end */
  readonly text: Buffer
  readonly line: Buffer
  readonly event: Buffer
}

const NUMBER = /^\d{1,15}$/

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

  /** What a reader saw last: by its number in this life, or else by its place in the log; `undefined` when neither can be told. */
  seenBy(id: string): Pick<Subscription, 'after' | 'since'> | undefined {
    const [life, number = '', store, position = '', count = ''] = id.split('.')
    const isOwn = life === this.#life && NUMBER.test(number)
    const isPlace = this.#store !== undefined && store === this.#store && NUMBER.test(position) && NUMBER.test(count)
    if (!isOwn && !isPlace) return undefined
    return {
      ...(isOwn && { after: Number(number) }),
      ...(isPlace && { since: { position: Number(position), count: Number(count) } }),
    }
  }

  /** The sign of life of server-sent events: who comes back with its id has missed nothing up to then. */
  beat(passed: Passed | undefined): string {
    const isKnown = passed?.place !== undefined && this.#store !== undefined
    return isKnown ? `id: ${this.#idOf(passed)}\ndata: {}\n\n` : 'data: {}\n\n'
  }

  #idOf({ number, place }: Passed): string {
    // what comes from the log has no number here
    const own = number === 0 ? '-.0' : `${this.#life}.${number}`
    if (place === undefined || this.#store === undefined) return own
    return `${own}.${this.#store}.${place.position}.${place.count}`
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
      case 'event':
        return `id: ${this.#idOf(message)}\ndata: ${text}\n\n`
    }
  }
}
