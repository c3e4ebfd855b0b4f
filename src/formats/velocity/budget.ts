/**
 * Limits the resources of one rendering. Whatever a template can multiply is charged before it is created.
 *
 * BUDGET-1 a rendering ends within its steps, characters, nesting and time, whatever the template and the data are
 */
import { Fault } from './fault.ts'

export interface VelocityLimits {
  /** maximum of statements, loop rounds, method calls and visited items; default 1,000,000 */
  readonly steps: number
  /** maximum length of the output, and of any intermediate text or number; default 16 Mi */
  readonly characters: number
  /** maximum nesting of directives and calls; default 100 */
  readonly depth: number
  readonly ms: number
}

export const LIMITS: VelocityLimits = { steps: 1_000_000, characters: 16 * 1024 * 1024, depth: 100, ms: 1_000 }

const STRIDE = 1_024
/** longer than that many steps take, shorter than pauses of a busy machine */
const MAX_LOOK_MS = 50

export class Budget {
  readonly limits: VelocityLimits
  readonly #now: () => number
  /** last clock read; many renderings end before the first one */
  #looked: number | undefined
  #ms = 0
  readonly #mostCharacters: number
  #steps = 0
  #nextLook = STRIDE
  #characters = 0
  #depth = 0

  constructor(limits: VelocityLimits, now: () => number) {
    this.limits = limits
    this.#now = now
    this.#mostCharacters = limits.characters
  }

  spend(steps: number): void {
    this.#steps += steps
    if (this.#steps >= this.#nextLook) this.#look()
  }

  write(characters: number): void {
    this.#characters += characters
    if (this.#characters > this.#mostCharacters) throw this.#tooLong()
  }

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
      throw new Fault('limit', `it needs more than ${this.limits.steps} steps; use shorter loops`)
    }
    const now = this.#now()
    // caps the time, because a busy machine may suspend the process in between
    this.#ms += Math.min(now - (this.#looked ?? now), MAX_LOOK_MS)
    this.#looked = now
    if (this.#ms > this.limits.ms)
      throw new Fault('limit', `it takes longer than ${this.limits.ms} ms; use shorter loops`)
  }

  #tooLong(): Fault {
    return new Fault('limit', `it creates a text of more than ${this.limits.characters} characters`)
  }
}
