import { makeEvents, resourceNames, type BenchEvent } from '../events.ts'
import { independentFirings, type ThresholdWorkload } from '../workload.ts'

const RULES = 100
/** A power of two, so that waves are whole where the events are cycled. Fewer than there are rules: no resource twice in one. */
const WAVE = 64

/** W5: the rules of W1, whose sensors answer on the next turn of the loop. The resources take turns. */
export function w5(): ThresholdWorkload {
  const resources = resourceNames(RULES)
  const events = makeEvents(resources).map((event, i): BenchEvent => {
    return { ...event, resource: resources[i % RULES] ?? event.resource }
  })
  return {
    kind: 'threshold',
    name: 'w5',
    title: 'W5: as W1, sensors answer on the next turn of the loop',
    events,
    wave: WAVE,
    limits: resources.map((resource) => ({ resource, temperature: 25, humidity: 60 })),
    onePerResource: true,
    answers: 'next turn',
    fires: 'every',
    coolDownMs: 0,
    expected: independentFirings(events, (event) => (event.temperature > 25 && event.humidity > 60 ? 1 : 0)),
  }
}
