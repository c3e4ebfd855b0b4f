/** Workloads: rules as plain facts, events, and the expected firings. */
import { EVENT_COUNT, type BenchEvent } from './events.ts'

/** `temperature > limit and humidity > limit` on one resource. */
export interface Limits {
  resource: string
  temperature: number
  humidity: number
}

interface Base {
  /** as in `--only` */
  name: string
  events: readonly BenchEvent[]
  /** events per wave, each after the previous wave has finished; a divisor of EVENT_COUNT */
  wave?: number
  /** firings after the first `total` events from a fresh start, by a plain reference */
  expected(total: number): number
}

/** One rule per entry of `limits`: two conditions, one gate, one actuator. */
export interface ThresholdWorkload extends Base {
  kind: 'threshold'
  limits: readonly Limits[]
  onePerResource: boolean
  /** when sensors return; default: at once */
  answers?: 'next turn'
  /** actuators of a firing: `note` and `tell`, with ordered calls per thing; default: a counter */
  acts?: 'in order'
  /** `every`: each event within the limits fires; `edge`: only after a known miss */
  fires: 'every' | 'edge'
  /** ms */
  coolDownMs: number
}

/** `value * factor + offset` */
export interface ChainStep {
  factor: number
  offset: number
}

/** One rule: sensors in a chain, each on the previous value; fires when the last value is above `limit`. */
export interface ChainWorkload extends Base {
  kind: 'chain'
  resource: string
  steps: readonly ChainStep[]
  limit: number
}

export type Workload = ThresholdWorkload | ChainWorkload

/** `expected` of a workload with independent events: counted over one cycle, then multiplied. */
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

/** Throws when the firings of a subject differ from the reference. */
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
