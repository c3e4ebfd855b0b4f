/** A sensor and an actuator that call a webscript of the tenant. */
import { actingPlugs, AppError, causeOf, requireService, type WebscriptPort } from '#plug'

const METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE'] as const

export function callWebscriptPlugs(webscripts?: WebscriptPort) {
  return actingPlugs({
    name: 'callWebscript',
    version: '1.0.0',
    category: 'Functions',
    description: 'Calls a webscript of the tenant, and fails unless its status is from 200 to 299',
    input: {
      name: { type: 'string', mandatory: true, description: 'the name of the webscript', example: 'greet' },
      version: {
        type: 'string',
        description: 'version or range of versions; default: the newest published one',
        example: '1.0.0',
      },
      method: {
        type: 'string',
        defaultValue: 'POST',
        format: { type: 'enum', values: METHODS },
        description: 'the method',
        example: 'POST',
      },
      path: { type: 'string', defaultValue: '/', description: 'path of the request', example: '/boilers' },
      query: { type: 'object', description: 'query parameters by name', example: { floor: 2 } },
      body: { type: 'any', description: 'body: text; other values are sent as JSON', example: { temperature: 93 } },
    },
    touches: ({ name }) => (name === undefined ? [] : [`webscript ${name}`]),
    output: {
      status: { type: 'integer', description: 'status of the response' },
      data: { type: 'any', description: 'body of the response: parsed when it is JSON, otherwise text' },
    },
    async perform(context) {
      const { name, version, method, path, query = {}, body } = context.properties
      const { status, data } = await requireService(webscripts, 'webscripts').call(
        {
          name,
          ...(version !== undefined && { version }),
          method,
          path,
          query: Object.fromEntries(Object.entries(query).map(([key, value]) => [key, textOf(value)])),
          ...(body !== undefined && { body }),
        },
        causeOf(context),
        context.signal,
      )
      if (status < 200 || status > 299) throw new AppError('PLUG_FAILED', `${name} responded with status ${status}`)
      return { message: `${name} responded with status ${status}`, rawData: { status, data } }
    },
  })
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
