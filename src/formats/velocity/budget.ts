/**
 * What one rendering may use. Whatever a template can make much of is paid here before it is made.
 *
 * BUDGET-1 a rendering ends within its steps, characters, nesting and time, whatever the template and the data are
 */
import { Fault } from './fault.ts'

export interface VelocityLimits {
  /** statements, rounds of loops, calls of methods, and items that those look at; default 1,000,000 */
  readonly steps: number
  /** of the output, and of any text or number that is made on the way; default 16 Mi */
  readonly characters: number
  /** directives and calls within each other; default 100 */
  readonly depth: number
  /** default 1,000 */
  readonly ms: number
}

export const LIMITS: VelocityLimits = { steps: 1_000_000, characters: 16 * 1024 * 1024, depth: 100, ms: 1_000 }

/** steps between two looks at the clock */
const STRIDE = 1_024
/** what may be counted between two looks: more than so few steps take, and less than whatever else a machine has to do */
const MAX_LOOK_MS = 50

export class Budget {
  readonly limits: VelocityLimits
  readonly #now: () => number
  /** when the clock was looked at; many renderings end before it is */
  #looked: number | undefined
  #ms = 0
  readonly #mostCharacters: number
  #steps = 0
  #nextLook = STRIDE
  #characters = 0
  #depth = 0

  /** `now`: ms */
  constructor(limits: VelocityLimits, now: () => number) {
    this.limits = limits
    this.#now = now
    this.#mostCharacters = limits.characters
  }

  spend(steps: number): void {
    this.#steps += steps
    if (this.#steps >= this.#nextLook) this.#look()
  }

  /** Characters that become output. */
  write(characters: number): void {
    this.#characters += characters
    if (this.#characters > this.#mostCharacters) throw this.#tooLong()
  }

  /** Characters of a text that is made on the way. */
  make(characters: number): void {
    if (characters > this.limits.characters) throw this.#tooLong()
    this.spend(1 + (characters >> 6))
  }

  enter(): void {
    if (++this.#depth > this.limits.depth) {
      throw new Fault('limit', `it nests deeper than ${this.limits.depth} levels`)
    }
  }

  leave(): void {
    this.#depth--
  }

  #look(): void {
    this.#nextLook = this.#steps + STRIDE
    if (this.#steps > this.limits.steps) {
      throw new Fault('limit', `it takes more than ${this.limits.steps} steps; loop over less`)
    }
    const now = this.#now()
    // on a busy machine more may pass while it does nothing at all
    this.#ms += Math.min(now - (this.#looked ?? now), MAX_LOOK_MS)
    this.#looked = now
    if (this.#ms > this.limits.ms) throw new Fault('limit', `it takes longer than ${this.limits.ms} ms; loop over less`)
  }

  #tooLong(): Fault {
    return new Fault('limit', `it makes a text of more than ${this.limits.characters} characters`)
  }
}
