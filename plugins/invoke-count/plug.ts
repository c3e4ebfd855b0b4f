/** A sensor that counts its own runs. */
import { definePlug } from '#plug'

/** Counts its own runs. A message with a `reset` that is not false, 0 or null starts again from 0. */
export const invokeCount = definePlug({
  name: 'invokeCount',
  version: '1.0.1',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description: 'Counts its runs. A message with reset: true starts again from 0 and gives Idle.',
  category: 'Logic',
  // runs are what it counts, so that messages without a reset are its news too
  parameters: () => undefined,
  states: ['Incremented', 'Idle'],
  output: { count: { type: 'long', description: 'how many times it ran since the start or the last reset' } },
  execute(context) {
    // a reset that is carried over from an earlier message has been heard
    if (context.isNew('reset') && isReset(context.streamValue('reset')))
      return { state: 'Idle', rawData: { count: 0 }, internalState: 0 }
    const count = (typeof context.internalState === 'number' ? context.internalState : 0) + 1
    return { state: 'Incremented', rawData: { count }, internalState: count }
  },
})

function isReset(value: unknown): boolean {
  return Boolean(value) && value !== 'false' && value !== '0'
}
