/** A sensor that shows the current message as raw data. */
import { AppError, definePlug } from '#plug'

export const stream = definePlug({
  name: 'stream',
  version: '1.0.0',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description: 'Shows the message that arrived as raw data. Fails without a message.',
  category: 'Stream',
  parameters: () => undefined,
  states: ['Data', 'Idle'],
  output: {
    stream: { type: 'object', description: 'the whole message' },
    id: { type: 'string', description: 'resource of the node or task, if any' },
  },
  execute(context) {
    const message = context.streamData
    if (Object.keys(message).length === 0) {
      throw new AppError('PLUG_FAILED', 'stream data is missing; set the resource of the node to one with messages')
    }
    const id = context.node.RESOURCE ?? context.task.RESOURCE
    return { state: 'Data', rawData: id === undefined ? { stream: message } : { stream: message, id } }
  },
})
