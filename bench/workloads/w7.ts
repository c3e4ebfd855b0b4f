import { makeEvents, resourceNames, type BenchEvent } from '../events.ts'
import { independentFirings, type ThresholdWorkload } from '../workload.ts'

const RULES = 16
/** A power of two, so that waves are whole where the events are cycled; each has four events about each resource. */
const WAVE = 64
/** Each firing calls both actuators. */
const CALLS = 2

/** W7: the conditions of W1 over 16 resources, which take turns. A firing calls two actuators that touch the same thing. */
export function w7(): ThresholdWorkload {
  const resources = resourceNames(RULES)
  const events = makeEvents(resources).map((event, i): BenchEvent => {
    return { ...event, resource: resources[i % RULES] ?? event.resource }
  })
  return {
    kind: 'threshold',
    name: 'w7',
    title: 'W7: 16 rules as in W1, each calls two actuators on one thing; one answers on the next turn of the loop',
    events,
    wave: WAVE,
    limits: resources.map((resource) => ({ resource, temperature: 25, humidity: 60 })),
    onePerResource: true,
    acts: 'in order',
    fires: 'every',
    coolDownMs: 0,
    expected: independentFirings(events, (event) => (event.temperature > 25 && event.humidity > 60 ? CALLS : 0)),
  }
}
