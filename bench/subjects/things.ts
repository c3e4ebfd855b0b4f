/** Effects of the actuators of W7: `note` returns at once, `tell` on the next turn of the loop. */
import { answeredNextTurn } from './next-turn.ts'

export class Things {
  calls = 0
  sum = 0
  readonly #open = new Set<string>()
  #overlaps = 0

  note(thing: string, value: number): void {
    this.calls++
    this.sum += value
    if (this.#open.has(thing)) this.#overlaps++
  }

  tell(thing: string, value: number): Promise<undefined> {
    this.note(thing, value)
    this.#open.add(thing)
    return answeredNextTurn(undefined).then((): undefined => void this.#open.delete(thing))
  }

  /** Throws when calls on the same thing overlapped. */
  expectOrder(): void {
    if (this.#overlaps > 0) throw new Error(`${this.#overlaps} calls began while another on the same thing was open`)
  }
}
