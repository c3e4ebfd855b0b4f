import { makeEvents, resourceNames } from '../events.ts'
import { independentFirings, type Limits, type ThresholdWorkload } from '../workload.ts'

const RULES = 10_000

/** W1d: 10,000 rules, one per resource, each with limits of its own. */
export function w1d(): ThresholdWorkload {
  const resources = resourceNames(RULES)
  const events = makeEvents(resources)
  const limits = resources.map((resource, i): Limits => {
    return { resource, temperature: 20 + (i % 101) / 10, humidity: 50 + (i % 21) }
  })
  const byResource = new Map(limits.map((limit) => [limit.resource, limit]))
  return {
    kind: 'threshold',
    name: 'w1d',
    title: 'W1d: 10,000 rules, one per resource, different limits',
    events,
    limits,
    onePerResource: true,
    fires: 'every',
    coolDownMs: 0,
    expected: independentFirings(events, (event) => {
      const limit = byResource.get(event.resource)
      return limit && event.temperature > limit.temperature && event.humidity > limit.humidity ? 1 : 0
    }),
  }
}
