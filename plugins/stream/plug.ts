/** A sensor that gives the message that arrived as raw data. */
import { AppError, definePlug } from '#plug'

/** Hands the message on as raw data. Fails when there is none. */
export const stream = definePlug({
  name: 'stream',
  version: '1.0.0',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description: 'Gives the message that arrived as raw data. Without a message it fails.',
  category: 'Stream',
  // the message as a whole
  parameters: () => undefined,
  states: ['Data', 'Idle'],
  output: {
    stream: { type: 'object', description: 'the whole message' },
    id: { type: 'string', description: 'the resource of the node, else of the task; absent when neither has one' },
  },
  execute(context) {
    const message = context.streamData
    if (Object.keys(message).length === 0) {
      throw new AppError('PLUG_FAILED', 'there is no stream data; the node needs a resource that messages arrive for')
    }
    const id = context.node.RESOURCE ?? context.task.RESOURCE
    return { state: 'Data', rawData: id === undefined ? { stream: message } : { stream: message, id } }
  },
})
