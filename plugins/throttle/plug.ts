/** A sensor that shows Trigger at most once per duration. */
import { AppError, definePlug, durationMs, messageOf } from '#plug'

export const throttle = definePlug({
  name: 'throttle',
  version: '1.0.0',
  kind: 'sensor',
  description: 'Trigger at most once per duration, and No Trigger in between. The first run triggers.',
  category: 'Time',
  parameters: [],
  states: ['Trigger', 'No Trigger'],
  input: {
    duration: {
      type: 'string',
      mandatory: true,
      format: { type: 'duration' },
      description: 'minimal time between two triggers: 250ms, 30s, 5m, 2h, 1d, or ISO 8601 such as PT5M',
      example: '5m',
    },
  },
  output: {
    lastInvocation: { type: 'long', description: 'time of the last trigger, in epoch milliseconds', unit: 'ms' },
  },
  check({ duration }) {
    if (duration === undefined) return []
    try {
      lengthOf(duration)
      return []
    } catch (error) {
      return [{ property: 'duration', message: messageOf(error), suggestion: 'use a duration such as 5m' }]
    }
  },
  execute({ properties, internalState, now }) {
    const last = typeof internalState === 'number' ? internalState : undefined
    if (last !== undefined && now < last + lengthOf(properties.duration)) {
      return { state: 'No Trigger', rawData: { lastInvocation: last } }
    }
    return { state: 'Trigger', rawData: { lastInvocation: now }, internalState: now }
  },
})

function lengthOf(duration: string): number {
  let ms: number
  try {
    ms = durationMs(duration)
  } catch (error) {
    throw new AppError('PLUG_FAILED', messageOf(error), { cause: error })
  }
  if (ms > 0) return ms
  throw new AppError('PLUG_FAILED', `duration must be above 0, but is "${duration}"`)
}
