/** A sensor and an actuator that pass a message to rules without storing it. */
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

export function forwardMessagePlugs(data?: DataPort): readonly Plug[] {
  return actingPlugs({
    name: 'forwardMessage',
    version: '1.0.0',
    category: 'Data',
    description: 'Passes a message of a resource to subscribed rules, without storing it',
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
      await requireService(data, 'data').post(resource, payload, { store: false, forward: true }, causeOf(context))
      return { message: `forwarded as ${resource}`, rawData: {} }
    },
  })
}
