/** Splits a byte stream into lines of bounded length. */

/** Maximum line length, so that a file without line ends cannot fill the memory. */
export const MAX_LINE = 1 << 20

export interface TakenLines {
  readonly end: number
  readonly lines: number
}

export const NO_LINES: TakenLines = { end: 0, lines: 0 }

/** Takes the lines of a text, numbered from 1. */
export interface LineTaker {
  line(text: string, number: number): void
  tooLong(number: number): void
  /** Takes complete lines as bytes, as many as the consumer accepts; the next line is delivered as text. */
  lines?(chunk: Uint8Array, start: number, number: number): TakenLines
}

const LINE_FEED = 10
/** maximum bytes delivered as text before `lines` is called again */
const MAX_TEXTS = 1 << 16

/** Splits chunks of UTF-8 at each LF. Removes a byte order mark; keeps a CR before the LF. */
export class LineSplitter {
  readonly #taker: LineTaker
  readonly #decoder = new TextDecoder()
  #rest = ''
  #skipping = false
  #number = 1
  #isBetween = true
  /** number of bytes to deliver as text while `lines` accepts none: one line first, then doubling */
  #texts = 0

  constructor(taker: LineTaker) {
    this.#taker = taker
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      at = this.#isBetween ? this.#taken(chunk, at) : at
      if (at === chunk.length) return
      const end = this.#taker.lines === undefined ? -1 : chunk.indexOf(LINE_FEED, at + this.#texts)
      const texts = chunk.subarray(at, end === -1 ? undefined : end + 1)
      this.#isBetween = texts.at(-1) === LINE_FEED
      this.#take(this.#decoder.decode(texts, { stream: true }))
      at += texts.length
    }
  }

  end(): void {
    this.#take(this.#decoder.decode())
    if (this.#rest !== '') this.#finish(this.#rest)
  }

  #taken(chunk: Uint8Array, at: number): number {
    const { end, lines } = this.#taker.lines?.(chunk, at, this.#number) ?? NO_LINES
    this.#number += lines
    this.#texts = lines > 0 ? 0 : Math.min(this.#texts * 2 + 1, MAX_TEXTS)
    return lines > 0 ? end : at
  }

  #take(chunk: string): void {
    let start = 0
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      this.#finish(this.#rest === '' ? chunk.slice(start, end) : this.#rest + chunk.slice(start, end))
      this.#rest = ''
      start = end + 1
    }
    if (this.#skipping) return
    this.#rest += chunk.slice(start)
    if (this.#rest.length > MAX_LINE) this.#refuse()
  }

  #finish(line: string): void {
    if (this.#skipping) this.#skipping = false
    else if (line.length > MAX_LINE) this.#taker.tooLong(this.#number)
    else this.#taker.line(line, this.#number)
    this.#number++
  }

  #refuse(): void {
    this.#taker.tooLong(this.#number)
    this.#skipping = true
    this.#rest = ''
  }
}
