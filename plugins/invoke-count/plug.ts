/** A sensor that counts its own runs. */
import { definePlug } from '#plug'

/** A truthy `reset` in a message restarts the count at 0 (false, 0 and null do not). */
export const invokeCount = definePlug({
  name: 'invokeCount',
  version: '1.0.1',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description: 'Counts its runs. A message with reset: true starts again from 0 and shows Idle.',
  category: 'Logic',
  // it counts runs, so messages without a reset matter too
  parameters: () => undefined,
  states: ['Incremented', 'Idle'],
  output: { count: { type: 'long', description: 'number of runs since the start or the last reset' } },
  execute(context) {
    // a `reset` from an earlier message has already been applied
    if (context.isNew('reset') && isReset(context.streamValue('reset')))
      return { state: 'Idle', rawData: { count: 0 }, internalState: 0 }
    const count = (typeof context.internalState === 'number' ? context.internalState : 0) + 1
    return { state: 'Incremented', rawData: { count }, internalState: count }
  },
})

function isReset(value: unknown): boolean {
  return Boolean(value) && value !== 'false' && value !== '0'
}
