/** Lines of a stream of bytes, bounded in length. */

/** Longer lines are refused, so that a file without line ends cannot fill the memory. */
export const MAX_LINE = 1 << 20

/** Lines that were taken by their bytes: how many, and where the next one begins. */
export interface TakenLines {
  readonly end: number
  readonly lines: number
}

export const NO_LINES: TakenLines = { end: 0, lines: 0 }

/** What takes the lines of a text, numbered from 1. */
export interface LineTaker {
  line(text: string, number: number): void
  /** a line above MAX_LINE, which is left out */
  tooLong(number: number): void
  /**
   * For takers that need no text of most lines: takes whole lines by their bytes from `start`, where one begins, as many as
   * it wants; the next one comes as a text.
   */
  lines?(chunk: Uint8Array, start: number, number: number): TakenLines
}

const LINE_FEED = 10
/** bytes that come as texts before the taker is asked again, at most */
const MAX_TEXTS = 1 << 16

/** Cuts chunks of bytes (UTF-8) into lines at each LF. A byte order mark is taken away; a CR before the LF stays. */
export class LineSplitter {
  readonly #taker: LineTaker
  readonly #decoder = new TextDecoder()
  #rest = ''
  #skipping = false
  #number = 1
  /** whether the next byte begins a line */
  #isBetween = true
  /** bytes that come as texts when the taker wants none of them as they are: twice as many each time, and one line first */
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

  /** Gives where the first line begins that is to come as a text. */
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
