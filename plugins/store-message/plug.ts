/** A sensor and an actuator that store a message without notifying rules. */
import {
  actingPlugs,
  causeOf,
  type DataPort,
  type Plug,
  problemsOfIssues,
  requireService,
  resourceOf,
  touchingResource,
} from '#plug'

export function storeMessagePlugs(data?: DataPort): readonly Plug[] {
  return actingPlugs({
    name: 'storeMessage',
    version: '1.0.0',
    category: 'Data',
    description: 'Stores a message of a resource in series and messages, without notifying rules',
    input: {
      payload: {
        type: 'object',
        mandatory: true,
        description: 'message: values by metric, and `timestamp` unless it is the current time',
        example: { setpoint: 21.5 },
      },
      resource: {
        type: 'string',
        format: { type: 'resource' },
        description: 'resource of the message; default: that of the node or task',
        example: 'boiler-1',
      },
    },
    output: {},
    touches: ({ resource }, context) => touchingResource(resource, context),
    check: ({ payload }) =>
      payload && data?.checkMessage ? problemsOfIssues(data.checkMessage(payload), 'payload') : [],
    async perform(context) {
      const resource = resourceOf(context)
      const { payload } = context.properties
      await requireService(data, 'data').post(resource, payload, { store: true, forward: false }, causeOf(context))
      return { message: `stored for ${resource}`, rawData: {} }
    },
  })
}
