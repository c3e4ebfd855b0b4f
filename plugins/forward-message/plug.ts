import {
  causeOf,
  type DataPort,
  definePlug,
  messageOf,
  type Plug,
  type PlugContext,
  requireService,
  resourceOf,
} from '../../src/plug.ts'

const shared = {
  name: 'forwardMessage',
  version: '1.0.0',
  category: 'Data',
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
} as const

/** A sensor and an actuator that hand a message to rules and do not store it. */
export function forwardMessagePlugs(data?: DataPort): readonly Plug[] {
  const post = async (context: PlugContext<Properties>): Promise<string> => {
    const resource = resourceOf(context)
    const how = { store: false, forward: true }
    await requireService(data, 'data').post(resource, context.properties.payload, how, causeOf(context))
    return resource
  }
  return [
    definePlug({
      ...shared,
      kind: 'sensor',
      acts: true,
      description: 'Hands a message of a resource to rules that listen, without storing it: Success, else Error.',
      states: ['Success', 'Error'],
      output: { error: { type: 'string', description: 'why it was not; absent after a Success' } },
      async execute(context) {
        try {
          await post(context)
          return { state: 'Success', rawData: {} }
        } catch (error) {
          return { state: 'Error', rawData: { error: messageOf(error) } }
        }
      },
    }),
    definePlug({
      ...shared,
      kind: 'actuator',
      description: 'Hands a message of a resource to rules that listen, without storing it.',
      async execute(context) {
        return { message: `forwarded as ${await post(context)}` }
      },
    }),
  ]
}

interface Properties {
  readonly payload: Readonly<Record<string, unknown>>
  readonly resource: string | undefined
}
