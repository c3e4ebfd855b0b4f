/** Sensors and actuators that store a message without notifying rules, or pass it to rules without storing it. */
import {
  actingPlugs,
  causeOf,
  type DataPort,
  problemsOfIssues,
  requireService,
  RESOURCE_INPUT,
  resourceOf,
  touchingResource,
} from '#plug'

export function storeMessagePlugs(data?: DataPort) {
  return messagePlugs(data, {
    name: 'storeMessage',
    description: 'Stores a message of a resource in series and messages, without notifying rules',
    options: { store: true, forward: false },
    done: 'stored for',
  })
}

export function forwardMessagePlugs(data?: DataPort) {
  return messagePlugs(data, {
    name: 'forwardMessage',
    description: 'Passes a message of a resource to subscribed rules, without storing it',
    options: { store: false, forward: true },
    done: 'forwarded as',
  })
}

interface Way<Name extends string> {
  readonly name: Name
  readonly description: string
  readonly options: Parameters<DataPort['post']>[2]
  readonly done: string
}

function messagePlugs<const Name extends string>(
  data: DataPort | undefined,
  { name, description, options, done }: Way<Name>,
) {
  return actingPlugs({
    name,
    version: '1.0.0',
    category: 'Data',
    description,
    input: {
      payload: {
        type: 'object',
        mandatory: true,
        description: 'message: values by metric, and `timestamp` unless it is the current time',
        example: { setpoint: 21.5 },
      },
      resource: {
        ...RESOURCE_INPUT,
        description: 'resource of the message; default: that of the node or task',
      },
    },
    output: {},
    touches: ({ resource }, context) => touchingResource(resource, context),
    check: ({ payload }) =>
      payload && data?.checkMessage ? problemsOfIssues(data.checkMessage(payload), 'payload') : [],
    async perform(context) {
      const resource = resourceOf(context)
      await requireService(data, 'data').post(resource, context.properties.payload, options, causeOf(context))
      return { message: `${done} ${resource}`, rawData: {} }
    },
  })
}
