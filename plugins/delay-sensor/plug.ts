/** A sensor that becomes Triggered after a delay, unless it runs again before that. */
import { AppError, definePlug } from '#plug'

export const delaySensor = definePlug({
  name: 'delaySensor',
  version: '2.0.0',
  // in version 1.0.0 the sensor was never Idle; other version numbers belong to other platforms
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description: 'Idle after each run, and Triggered after a delay. Another run restarts the wait.',
  category: 'Time',
  parameters: [],
  states: ['Idle', 'Triggered'],
  input: {
    delay: { type: 'long', mandatory: true, description: 'wait in milliseconds', example: 5000 },
  },
  check({ delay }) {
    if (delay === undefined || delay >= 0) return []
    return [{ property: 'delay', message: negativeDelay(delay), suggestion: 'use milliseconds such as 5000' }]
  },
  execute({ properties }) {
    if (properties.delay < 0) throw new AppError('PLUG_FAILED', negativeDelay(properties.delay))
    // Idle at once, so that running again ends an earlier Triggered
    return { state: 'Idle', then: { state: 'Triggered', after: properties.delay } }
  },
})

function negativeDelay(delay: number): string {
  return `delay must be 0 ms or more, but is ${delay}`
}
