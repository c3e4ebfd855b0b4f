/** A sensor that reads the last stored messages of a resource. */
import { type DataPort, definePlug, requireService, RESOURCE_INPUT, resourceOf } from '#plug'

const MOST = 100

export function getLatestMessagesPlug(data?: DataPort) {
  return definePlug({
    name: 'getLatestMessages',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'The last stored messages of a resource, newest first: Collected, or Not Collected without any. Fails when data is unavailable.',
    category: 'Data',
    parameters: [],
    states: ['Collected', 'Not Collected'],
    input: {
      resource: { ...RESOURCE_INPUT, description: 'resource of the messages; default: that of the node or task' },
      limit: { type: 'integer', defaultValue: MOST, description: `maximal number, from 1 to ${MOST}`, example: 10 },
    },
    output: {
      data: { type: 'array', description: 'the messages' },
      count: { type: 'integer', description: 'number of messages' },
    },
    check({ limit }) {
      if (limit === undefined || (limit >= 1 && limit <= MOST)) return []
      return [
        {
          property: 'limit',
          message: `limit ${limit} is out of range`,
          suggestion: `use a whole number from 1 to ${MOST}`,
        },
      ]
    },
    async execute(context) {
      const limit = Math.min(Math.max(context.properties.limit, 1), MOST)
      const messages = await requireService(data, 'data').messages(resourceOf(context), limit, context.now)
      const rawData = { data: messages, count: messages.length }
      return { state: messages.length > 0 ? 'Collected' : 'Not Collected', rawData }
    },
  })
}
