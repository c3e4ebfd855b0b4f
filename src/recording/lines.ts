/** Lines of a stream of bytes, bounded in length. */

/** Longer lines are refused, so that a file without line ends cannot fill the memory. */
export const MAX_LINE = 1 << 20

/** What takes the lines of a text, numbered from 1. */
export interface LineTaker {
  line(text: string, number: number): void
  /** a line above MAX_LINE, which is left out */
  tooLong(number: number): void
}

/** Cuts chunks of bytes (UTF-8) into lines. A byte order mark and the ends of lines (LF, CRLF) are taken away. */
export class LineSplitter {
  readonly #taker: LineTaker
  readonly #decoder = new TextDecoder()
  #rest = ''
  #skipping = false
  #number = 1

  constructor(taker: LineTaker) {
    this.#taker = taker
  }

  push(chunk: Uint8Array): void {
    this.#take(this.#decoder.decode(chunk, { stream: true }))
  }

  end(): void {
    this.#take(this.#decoder.decode())
    if (this.#rest !== '') this.#finish(this.#rest)
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
    else this.#taker.line(line.endsWith('\r') ? line.slice(0, -1) : line, this.#number)
    this.#number++
  }

  #refuse(): void {
    this.#taker.tooLong(this.#number)
    this.#skipping = true
    this.#rest = ''
  }
}
