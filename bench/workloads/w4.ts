import { makeEvents } from '../events.ts'
import { independentFirings, type ChainStep, type ChainWorkload } from '../workload.ts'

const RESOURCE = 'boiler-0'
const STEPS = 10
const LIMIT = 60

/** W4: one chain of ten sensors, each works on the value of the one before, an actuator at the end. */
export function w4(): ChainWorkload {
  const events = makeEvents([RESOURCE])
  const steps = Array.from({ length: STEPS }, (_, i): ChainStep => ({ factor: 0.9 + i / 50, offset: 4 - i / 2 }))
  return {
    kind: 'chain',
    name: 'w4',
    title: 'W4: one chain of ten sensors',
    events,
    resource: RESOURCE,
    steps,
    limit: LIMIT,
    expected: independentFirings(events, (event) =>
      steps.reduce((value, step) => value * step.factor + step.offset, event.temperature) > LIMIT ? 1 : 0,
    ),
  }
}
