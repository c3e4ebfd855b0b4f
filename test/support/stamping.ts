/** Adds measurement times to messages: current, late or repeated ones on the test's clock. */
import fc from 'fast-check'
import type { Message } from '../../src/core/task/origin.ts'

/**
 * `now`, `ahead`, `lagging`: later than all earlier messages, arriving at its time or 2 ms later; `at once`: at its
 * time, which may equal an earlier one.
 */
export type Stamp = 'none' | 'now' | 'ahead' | 'text' | 'lagging' | 'at once' | 'behind' | 'as the last' | 'repeated'

const IN_ORDER: readonly Stamp[] = ['now', 'ahead', 'text', 'lagging']

/** Generates how consecutive messages are stamped, repeating the list; mostly so that rows take them, or not at all. */
export const stamps: fc.Arbitrary<readonly Stamp[]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 2, arbitrary: fc.array(fc.constantFrom(...IN_ORDER), { minLength: 1, maxLength: 4 }) },
  {
    weight: 3,
    arbitrary: fc.array(
      fc.oneof(
        { weight: 12, arbitrary: fc.constantFrom(...IN_ORDER) },
        {
          weight: 1,
          arbitrary: fc.constantFrom<Stamp>('none', 'at once', 'behind', 'as the last', 'repeated'),
        },
      ),
      { minLength: 4, maxLength: 40 },
    ),
  },
)

interface Clock {
  now(): number
  advanceTo(time: number): void
}

/** Stamps the messages that a test sends, one after the other. */
export class Stamping {
  readonly #clock: Clock
  readonly #stamps: readonly Stamp[]
  #count = 0
  #last: Message | undefined

  constructor(clock: Clock, all: readonly Stamp[]) {
    this.#clock = clock
    this.#stamps = all
  }

  /** Returns the stamped message, advancing the clock where necessary. */
  next(message: Message): Message {
    if (this.#stamps.length === 0) return message
    const stamp = this.#stamps[this.#count++ % this.#stamps.length] ?? 'none'
    if (stamp === 'none') return message
    if (stamp === 'repeated' && this.#last !== undefined) return { ...this.#last }
    if (IN_ORDER.includes(stamp)) this.#clock.advanceTo(this.#clock.now() + (stamp === 'lagging' ? 4 : 1))
    const stamped = { ...message, timestamp: this.#timestamp(stamp) }
    this.#last = stamped
    return stamped
  }

  #timestamp(stamp: Stamp): string | number {
    const now = this.#clock.now()
    if (stamp === 'text') return new Date(now).toISOString()
    if (stamp === 'ahead') return now + 3
    if (stamp === 'lagging') return now - 2
    if (stamp === 'behind') return now - 4
    return stamp === 'as the last' ? (this.#last?.timestamp ?? now) : now
  }
}
