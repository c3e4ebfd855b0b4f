/** A sensor that fetches the last stored messages of a resource. */
import { type DataPort, definePlug, type Plug, requireService, resourceOf } from '#plug'

const MOST = 100

/** A sensor that reads the last messages of a resource. */
export function getLatestMessagesPlug(data?: DataPort): Plug {
  return definePlug({
    name: 'getLatestMessages',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'The last stored messages of a resource, newest first: Collected, or Not Collected when there are none. It fails when data cannot be asked.',
    category: 'Data',
    parameters: [],
    states: ['Collected', 'Not Collected'],
    input: {
      resource: {
        type: 'string',
        format: { type: 'resource' },
        description: 'whose messages; those of the node or of the task when left out',
        example: 'boiler-1',
      },
      limit: { type: 'integer', defaultValue: MOST, description: `how many at most, from 1 to ${MOST}`, example: 10 },
    },
    output: {
      data: { type: 'array', description: 'the messages' },
      count: { type: 'integer', description: 'how many there are' },
    },
    check({ limit }) {
      if (limit === undefined || (limit >= 1 && limit <= MOST)) return []
      return [{ property: 'limit', message: `limit is ${limit}`, suggestion: `a whole number from 1 to ${MOST}` }]
    },
    async execute(context) {
      const limit = Math.min(Math.max(context.properties.limit, 1), MOST)
      const messages = await requireService(data, 'data').messages(resourceOf(context), limit)
      const rawData = { data: messages, count: messages.length }
      return { state: messages.length > 0 ? 'Collected' : 'Not Collected', rawData }
    },
  })
}
