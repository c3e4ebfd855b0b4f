/** A sensor and an actuator that send a command to a resource. */
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

export function executeCommandPlugs(data?: DataPort) {
  return actingPlugs({
    name: 'executeCommand',
    version: '1.0.0',
    category: 'Data',
    description: 'Sends a command to a resource, without waiting for its execution',
    input: {
      command: { type: 'string', mandatory: true, description: 'the name of the command', example: 'setTemperature' },
      properties: { type: 'object', description: 'further properties of the command', example: { temperature: 21.5 } },
      resource: { ...RESOURCE_INPUT, description: 'target of the command; default: the resource of the node or task' },
    },
    touches: ({ resource }, context) => touchingResource(resource, context),
    check({ command, properties }) {
      if (command === undefined || data?.checkCommand === undefined) return []
      return problemsOfIssues(data.checkCommand({ ...properties, name: command }), 'properties', { name: 'command' })
    },
    output: { response: { type: 'object', description: 'the command as sent' } },
    async perform(context) {
      const { command, properties } = context.properties
      const message = { ...properties, name: command }
      const response = await requireService(data, 'data').command(resourceOf(context), message, causeOf(context))
      return { message: `command ${command} sent`, rawData: { response } }
    },
  })
}
