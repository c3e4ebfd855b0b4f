/** The events that every subject reads: made once from a seed, written as JSON text, parsed, and cycled. */
import { nextSeed, randomOf } from '../src/kernel/random.ts'

/** `temperature` 0.0 to 50.0 with one decimal, `humidity` 20 to 100. */
export type BenchEvent = {
  resource: string
  temperature: number
  humidity: number
}

/** A power of two, so that cycling is a mask. */
export const EVENT_COUNT = 65_536

/** Virtual ms between one event and the next. */
export const STEP_MS = 10

/** Virtual time before the first event: 2026-01-01T00:00:00Z in epoch ms. */
export const START_MS = 1_767_225_600_000

const SEED = 20_261_101

/** What a subject knows of the event at hand; whoever drives the subject sets it. */
export interface Clock {
  /** the time that subjects read, epoch ms */
  now: number
  /** the event's part of what tells which rule fired at which event (src/bench/firings.ts) */
  stamp: number
}

/** Events that hit `resources` at random, the same ones on every call. */
export function makeEvents(resources: readonly string[]): readonly BenchEvent[] {
  let seed = SEED
  const random = () => {
    seed = nextSeed(seed)
    return randomOf(seed)
  }
  const lines: string[] = []
  for (let i = 0; i < EVENT_COUNT; i++) {
    const resource = resources[Math.floor(random() * resources.length)]
    const temperature = Math.round(random() * 500) / 10
    const humidity = 20 + Math.round(random() * 80)
    lines.push(JSON.stringify({ resource, temperature, humidity }))
  }
  // Parsed one by one, as they would come in: each text makes its own strings.
  return lines.map((line) => JSON.parse(line) as BenchEvent)
}

/** `boiler-0`, `boiler-1` ... */
export function resourceNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `boiler-${i}`)
}
