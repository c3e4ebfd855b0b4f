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
  name: 'executeCommand',
  version: '1.0.0',
  category: 'Data',
  input: {
    command: { type: 'string', mandatory: true, description: 'the name of the command', example: 'setTemperature' },
    properties: { type: 'object', description: 'what else the command says', example: { temperature: 21.5 } },
    resource: {
      type: 'string',
      format: { type: 'resource' },
      description: 'whose command; that of the node or of the task when left out',
      example: 'boiler-1',
    },
  },
} as const

/** A sensor and an actuator that send a command to a resource. */
export function executeCommandPlugs(data?: DataPort): readonly Plug[] {
  const send = async (context: PlugContext<Properties>): Promise<Readonly<Record<string, unknown>>> => {
    const { command, properties } = context.properties
    const message = { ...properties, name: command }
    return requireService(data, 'data').command(resourceOf(context), message, causeOf(context))
  }
  return [
    definePlug({
      ...shared,
      kind: 'sensor',
      acts: true,
      description: 'Sends a command to a resource and does not wait until it is carried out: Success, else Error.',
      states: ['Success', 'Error'],
      output: {
        response: { type: 'object', description: 'the command as it was sent' },
        error: { type: 'string', description: 'why it was not' },
      },
      async execute(context) {
        try {
          return { state: 'Success', rawData: { response: await send(context) } }
        } catch (error) {
          return { state: 'Error', rawData: { error: messageOf(error) } }
        }
      },
    }),
    definePlug({
      ...shared,
      kind: 'actuator',
      description: 'Sends a command to a resource and does not wait until it is carried out.',
      output: { response: { type: 'object', description: 'the command as it was sent' } },
      async execute(context) {
        const response = await send(context)
        return { message: `command ${context.properties.command} sent`, rawData: { response } }
      },
    }),
  ]
}

interface Properties {
  readonly command: string
  readonly properties: Readonly<Record<string, unknown>> | undefined
  readonly resource: string | undefined
}
