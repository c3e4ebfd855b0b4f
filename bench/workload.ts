/** What a workload is: the rules as plain facts, the events, and how often the actuator must have fired. */
import { EVENT_COUNT, type BenchEvent } from './events.ts'

/** `temperature > limit and humidity > limit` on one resource. */
export interface Limits {
  resource: string
  temperature: number
  humidity: number
}

interface Base {
  /** as `--only` takes it */
  name: string
  /** EVENT_COUNT of them */
  events: readonly BenchEvent[]
  /** so many events come at a time, and the next when all that they began has ended; a divisor of EVENT_COUNT */
  wave?: number
  /** how often the actuators have fired after the first `total` events from a fresh start, by a plain reference */
  expected(total: number): number
}

/** One rule per entry of `limits`: two conditions, one gate, one actuator. */
export interface ThresholdWorkload extends Base {
  kind: 'threshold'
  limits: readonly Limits[]
  /** at most one rule has any one resource */
  onePerResource: boolean
  /** when sensors answer; default: at once */
  answers?: 'next turn'
  /** what a firing calls: `note` and `tell`, whose calls on one thing follow each other; default: an actuator that counts */
  acts?: 'in order'
  /** `every`: each event that meets the limits fires; `edge`: only when they were known to be unmet before */
  fires: 'every' | 'edge'
  /** ms in which an actuator does not fire again */
  coolDownMs: number
}

/** One step of a chain: `value * factor + offset`. */
export interface ChainStep {
  factor: number
  offset: number
}

/** One rule: sensors in a chain, each works on the value of the one before; fires when the last value is above `limit`. */
export interface ChainWorkload extends Base {
  kind: 'chain'
  resource: string
  steps: readonly ChainStep[]
  limit: number
}

export type Workload = ThresholdWorkload | ChainWorkload

/** `expected` of a workload whose events do not depend on each other: counted over one cycle, then multiplied. */
export function independentFirings(
  events: readonly BenchEvent[],
  firingsOf: (event: BenchEvent) => number,
): (total: number) => number {
  const before = [0]
  let sum = 0
  for (const event of events) {
    sum += firingsOf(event)
    before.push(sum)
  }
  return (total) => Math.floor(total / EVENT_COUNT) * sum + (before[total % EVENT_COUNT] ?? 0)
}

/** Throws when a subject has not fired as often as the reference does in so many events. */
export function expectFirings(
  workload: Workload,
  subject: string,
  { firings, taken }: { readonly firings: number; readonly taken: number },
): void {
  const expected = workload.expected(taken)
  if (firings === expected) return
  throw new Error(
    `${workload.name}, ${subject}: fired ${firings} times in ${taken} events, the reference says ${expected}`,
  )
}
