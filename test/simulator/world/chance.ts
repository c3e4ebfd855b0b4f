/** Generates random numbers from a seed. Each seed has its own sequence, independent of others. */
import { nextSeed, randomOf, seedOf } from '../../../src/kernel/random.ts'

export class Chance {
  #state: number

  constructor(seed: string) {
    this.#state = seedOf(seed)
  }

  /** returns a number from 0 to below 1 */
  next(): number {
    this.#state = nextSeed(this.#state)
    return randomOf(this.#state)
  }

  /** returns an integer from 0 to below `limit` */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  /** returns an integer from `least` to `most`, inclusive */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  /** returns true with this probability */
  is(probability: number): boolean {
    return this.next() < probability
  }

  of<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('nothing to choose from')
    return list[this.below(list.length)] as T // lists are never empty
  }

  /** Picks a value with a probability proportional to its weight. */
  weighted<T>(list: readonly (readonly [weight: number, value: T])[]): T {
    let left = this.next() * list.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, value] of list) {
      left -= weight
      if (left < 0) return value
    }
    return this.of(list.slice(-1).map(([, value]) => value)) // reached only by rounding
  }
}
