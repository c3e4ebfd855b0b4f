/**
 * Events of the workloads with irregularities of real data: fields that come and go, and values that are not numbers.
 */
import type { BenchEvent } from '../events.ts'
import { nextSeed, randomOf } from '../../src/kernel/random.ts'
import type { Data } from './targets.ts'

/** As `BenchEvent`; a missing field is absent, null and NaN are values. */
export type OddEvent = {
  readonly resource: string
  readonly temperature?: number | null
  readonly humidity?: number | null
  readonly battery?: number
}

const SEED = 7_130_522
const RARE = 100

/** Equal on every call. Parsed from JSON text one by one, as regular ones; NaN, which JSON lacks, is set afterwards. */
export function oddEvents(events: readonly BenchEvent[], data: Data): readonly OddEvent[] {
  if (data === 'smooth') return events
  let seed = SEED
  const random = (below: number) => {
    seed = nextSeed(seed)
    return Math.floor(randomOf(seed) * below)
  }
  return events.map((event) => {
    const written = JSON.parse(JSON.stringify(changed(event, data, random))) as OddEvent
    return data === 'nulls' ? withNaN(written, random) : written
  })
}

function changed(event: BenchEvent, data: Data, random: (below: number) => number): OddEvent {
  const { resource, temperature, humidity } = event
  const isRare = data === 'carried' || data === 'orders' || random(RARE) === 0
  if (!isRare) return event
  switch (data) {
    case 'extra':
      return { resource, temperature, humidity, battery: 90 }
    case 'missing':
    case 'carried':
      return random(2) === 0 ? { resource, temperature } : { resource, humidity }
    case 'nulls':
      return random(2) === 0 ? { resource, temperature: null, humidity } : { resource, temperature, humidity: null }
    case 'orders':
      return [
        { resource, temperature, humidity },
        { resource, humidity, temperature },
        { temperature, resource, humidity },
        { humidity, temperature, resource },
      ][random(4)] as OddEvent
    case 'smooth':
      return event
  }
}

/** Replaces half of the nulls. */
function withNaN(event: OddEvent, random: (below: number) => number): OddEvent {
  if ((event.temperature !== null && event.humidity !== null) || random(2) === 0) return event
  if (event.temperature === null) return { ...event, temperature: Number.NaN }
  return { ...event, humidity: Number.NaN }
}
