/** What goes over the wire for a message: made once, however many read it. */
import type { BrokerMessage, StreamedMessage } from '../../contract.ts'

/** Bytes of one message in each form. */
export interface Frame {
  /** a line of JSON without its end */
  readonly text: Buffer
  readonly line: Buffer
  readonly event: Buffer
}

export class Frames {
  readonly #made = new WeakMap<StreamedMessage, Partial<Record<keyof Frame, Buffer>>>()
  readonly #texts = new WeakMap<BrokerMessage, string>()
  readonly #life: string

  /** `life` tells the numbers of this process from those of others. */
  constructor(life: string) {
    this.#life = life
  }

  of(message: StreamedMessage, form: keyof Frame): Buffer {
    let made = this.#made.get(message)
    if (made === undefined) this.#made.set(message, (made = {}))
    return (made[form] ??= Buffer.from(this.#write(message, form)))
  }

  /** The number that a reader saw last; `undefined` when it was in another life. */
  numberOf(id: string): number | undefined {
    const [life, number = ''] = id.split('.')
    return life === this.#life && /^\d{1,15}$/.test(number) ? Number(number) : undefined
  }

  #write({ number, value }: StreamedMessage, form: keyof Frame): string {
    let text = this.#texts.get(value)
    if (text === undefined) this.#texts.set(value, (text = JSON.stringify(value)))
    switch (form) {
      case 'text':
        return text
      case 'line':
        return `${text}\n`
      case 'event':
        return `id: ${this.#life}.${number}\ndata: ${text}\n\n`
    }
  }
}
