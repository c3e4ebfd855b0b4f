/** Creates schedules with a fixed period. */
import type { Schedule, Tally } from './schedule.ts'

export function fixedRate(frequency: number, start: number): Schedule {
  return new FixedRate(frequency, start)
}

/** Ticks `frequency` ms after the end of the last work. Its key includes the start, since that work matters. */
export function fixedDelay(frequency: number, start: number): Schedule {
  return new FixedDelay(frequency, start)
}

/** Stored as classes with two numbers each, since every periodic task has its own schedule. */
class FixedRate implements Schedule {
  readonly #frequency: number
  readonly #start: number

  constructor(frequency: number, start: number) {
    this.#frequency = frequency
    this.#start = start
  }

  get key(): string {
    const phase = ((this.#start % this.#frequency) + this.#frequency) % this.#frequency
    return `periodic ${this.#frequency} ${phase}`
  }

  next(after: number): number {
    if (after < this.#start) return this.#start
    return this.#start + (Math.floor((after - this.#start) / this.#frequency) + 1) * this.#frequency
  }

  first(start: number): number {
    if (start <= this.#start) return this.#start
    return this.#start + Math.ceil((start - this.#start) / this.#frequency) * this.#frequency
  }

  tally(after: number, before: number): Tally {
    const earliest = this.next(after)
    return { count: before <= earliest ? 0 : Math.ceil((before - earliest) / this.#frequency), isExact: true }
  }
}

class FixedDelay implements Schedule {
  readonly #frequency: number
  readonly #start: number

  constructor(frequency: number, start: number) {
    this.#frequency = frequency
    this.#start = start
  }

  get key(): string {
    return `delay ${this.#frequency} ${this.#start}`
  }

  get fixedDelay(): true {
    return true
  }

  next(after: number): number {
    return after < this.#start ? this.#start : after + this.#frequency
  }

  first(start: number): number {
    return Math.max(start, this.#start)
  }
}
