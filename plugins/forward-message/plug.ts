/** A sensor and an actuator that hand a message to rules that listen, without storing it. */
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

/** A sensor and an actuator that hand a message to rules and do not store it. */
export function forwardMessagePlugs(data?: DataPort): readonly Plug[] {
  return actingPlugs({
    name: 'forwardMessage',
    version: '1.0.0',
    category: 'Data',
    description: 'Hands a message of a resource to rules that listen, without storing it',
    input: {
      payload: {
        type: 'object',
        mandatory: true,
        description: 'the message: values by metric, and `timestamp` when it is not of now',
        example: { setpoint: 21.5 },
      },
      resource: {
        type: 'string',
        format: { type: 'resource' },
        description: 'whose message; that of the node or of the task when left out',
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
