import { makeEvents } from '../events.ts'
import { independentFirings, type Limits, type ThresholdWorkload } from '../workload.ts'

const RULES = 1000
const RESOURCE = 'boiler-0'

/** W2: 1,000 rules with different limits on one resource; every event meets them all. */
export function w2(): ThresholdWorkload {
  const events = makeEvents([RESOURCE])
  const limits = Array.from({ length: RULES }, (_, i): Limits => {
    return { resource: RESOURCE, temperature: (i * 50) / RULES, humidity: 20 + ((i * 37) % 80) }
  })
  return {
    kind: 'threshold',
    name: 'w2',
    title: 'W2: 1,000 rules on one resource, different limits',
    events,
    limits,
    onePerResource: false,
    fires: 'every',
    coolDownMs: 0,
    expected: independentFirings(
      events,
      (event) =>
        limits.filter((limit) => event.temperature > limit.temperature && event.humidity > limit.humidity).length,
    ),
  }
}
