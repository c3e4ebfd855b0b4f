import { EVENT_COUNT, makeEvents, resourceNames, START_MS, STEP_MS } from '../events.ts'
import type { ThresholdWorkload } from '../workload.ts'

const RULES = 100
const COOL_DOWN_MS = 10_000

/** W3: the rules of W1, but they fire only when the condition becomes true, at most once per 10 virtual seconds. */
export function w3(): ThresholdWorkload {
  const resources = resourceNames(RULES)
  const events = makeEvents(resources)
  return {
    kind: 'threshold',
    name: 'w3',
    title: 'W3: as W1, only when it becomes true, at most once per 10 virtual seconds',
    events,
    limits: resources.map((resource) => ({ resource, temperature: 25, humidity: 60 })),
    onePerResource: true,
    fires: 'edge',
    coolDownMs: COOL_DOWN_MS,
    expected(total) {
      const wasFalse = new Set<string>()
      const lastFiring = new Map<string, number>()
      let firings = 0
      for (let i = 0; i < total; i++) {
        const event = events[i % EVENT_COUNT]
        if (event === undefined) throw new Error(`there is no event ${i % EVENT_COUNT}`)
        const holds = event.temperature > 25 && event.humidity > 60
        if (!holds) {
          wasFalse.add(event.resource)
        } else if (wasFalse.delete(event.resource)) {
          const now = START_MS + (i + 1) * STEP_MS
          if (now - (lastFiring.get(event.resource) ?? 0) >= COOL_DOWN_MS) {
            lastFiring.set(event.resource, now)
            firings++
          }
        }
      }
      return firings
    },
  }
}
