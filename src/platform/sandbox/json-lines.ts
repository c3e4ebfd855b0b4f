/** Parses JSON lines from a stream in pieces, with a length limit. */

/** Throws for a line that is too long or malformed, after delivering the values before it. */
export class JsonLines {
  readonly #most: number
  readonly #take: (value: unknown) => void
  #rest = ''

  constructor(most: number, take: (value: unknown) => void) {
    this.#most = most
    this.#take = take
  }

  push(piece: string): void {
    let from = 0
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', from)) {
      const line = this.#rest + piece.slice(from, end)
      this.#rest = ''
      from = end + 1
      if (line.length > this.#most) throw new Error(`a line is longer than ${this.#most} characters`)
      this.#take(parsed(line))
    }
    this.#rest += piece.slice(from)
    if (this.#rest.length > this.#most) throw new Error(`a line is longer than ${this.#most} characters`)
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw new Error(`"${line.slice(0, 80)}" is not JSON`)
  }
}
