/** Limits the rate of a program's log lines, and counts dropped lines. */
import type { ProgramLine } from './program.ts'

export class LogGate {
  readonly #most: number
  readonly #clock: () => number
  readonly #pass: (line: ProgramLine) => void
  #second = Number.NEGATIVE_INFINITY
  #passed = 0
  #dropped = 0

  constructor(most: number, clock: () => number, pass: (line: ProgramLine) => void) {
    this.#most = most
    this.#clock = clock
    this.#pass = pass
  }

  add(line: ProgramLine): void {
    const second = Math.floor(this.#clock() / 1_000)
    if (second !== this.#second) {
      this.end()
      this.#second = second
      this.#passed = 0
    }
    if (++this.#passed > this.#most) this.#dropped++
    else this.#pass(line)
  }

  end(): void {
    if (this.#dropped === 0) return
    this.#pass({
      level: 'warn',
      text: `${this.#dropped} lines were dropped: the limit is ${this.#most} a second`,
    })
    this.#dropped = 0
  }
}
