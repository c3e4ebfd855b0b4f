/** A sensor that becomes Triggered a while after each run, unless it runs again before. */
import { AppError, definePlug } from '#plug'

/** `Idle` while it waits, `Triggered` once the delay is over. Running it again starts the wait anew. */
export const delaySensor = definePlug({
  name: 'delaySensor',
  version: '2.0.0',
  // ours was 1.0.0, which was never Idle; the others are those of other platforms
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description: 'Idle from each run on, and Triggered after a delay. Running it again starts the wait anew.',
  category: 'Time',
  parameters: [],
  states: ['Idle', 'Triggered'],
  input: {
    delay: { type: 'long', mandatory: true, description: 'how long to wait, in milliseconds', example: 5000 },
  },
  check({ delay }) {
    if (delay === undefined || delay >= 0) return []
    return [{ property: 'delay', message: negativeDelay(delay), suggestion: 'write milliseconds such as 5000' }]
  },
  execute({ properties }) {
    if (properties.delay < 0) throw new AppError('PLUG_FAILED', negativeDelay(properties.delay))
    // Idle at once, so that what it was Triggered by before is over when it runs again.
    return { state: 'Idle', then: { state: 'Triggered', after: properties.delay } }
  },
})

function negativeDelay(delay: number): string {
  return `delay must be 0 ms or more, but is ${delay}`
}
