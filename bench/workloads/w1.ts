import { makeEvents, resourceNames } from '../events.ts'
import { independentFirings, type ThresholdWorkload } from '../workload.ts'

const RULES = 100

/** W1: 100 rules, one per resource, all with the same limits: warmer than 25 and damper than 60. */
export function w1(): ThresholdWorkload {
  const resources = resourceNames(RULES)
  const events = makeEvents(resources)
  return {
    kind: 'threshold',
    name: 'w1',
    title: 'W1: 100 rules, one per resource, same limits',
    events,
    limits: resources.map((resource) => ({ resource, temperature: 25, humidity: 60 })),
    onePerResource: true,
    fires: 'every',
    coolDownMs: 0,
    expected: independentFirings(events, (event) => (event.temperature > 25 && event.humidity > 60 ? 1 : 0)),
  }
}
