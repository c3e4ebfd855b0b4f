/** Events for every subject: generated from a seed, serialized, parsed, and cycled. */
import { nextSeed, randomOf } from '../src/kernel/random.ts'

/** `temperature` 0.0 to 50.0 with one decimal, `humidity` 20 to 100. */
export type BenchEvent = {
  resource: string
  temperature: number
  humidity: number
}

/** power of two, so that cycling is a mask */
export const EVENT_COUNT = 65_536

/** virtual ms between two events */
export const STEP_MS = 10

/** virtual time before the first event: 2026-01-01T00:00:00Z in epoch ms */
export const START_MS = 1_767_225_600_000

const SEED = 20_261_101

/** State of the current event, set by the driver. */
export interface Clock {
  /** epoch ms */
  now: number
  stamp: number
}

/** Random events of `resources`, equal on every call. */
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
  // parsed one by one, as on arrival: each text creates its own strings
  return lines.map((line) => JSON.parse(line) as BenchEvent)
}

export function resourceNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `boiler-${i}`)
}
