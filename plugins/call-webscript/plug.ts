/** A sensor and an actuator that call a webscript of the tenant. */
import { actingPlugs, AppError, causeOf, type Plug, requireService, type WebscriptPort } from '#plug'

const METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE'] as const

/** A sensor and an actuator that call a webscript; an answer that is not from 200 to 299 is a failure. */
export function callWebscriptPlugs(webscripts?: WebscriptPort): readonly Plug[] {
  return actingPlugs({
    name: 'callWebscript',
    version: '1.0.0',
    category: 'Functions',
    description: 'Calls a webscript of the tenant, and fails unless it answers with a status from 200 to 299',
    input: {
      name: { type: 'string', mandatory: true, description: 'the name of the webscript', example: 'greet' },
      version: {
        type: 'string',
        description: 'a version or a range of versions; the newest published one when left out',
        example: '1.0.0',
      },
      method: {
        type: 'string',
        defaultValue: 'POST',
        format: { type: 'enum', values: METHODS },
        description: 'the method',
        example: 'POST',
      },
      path: { type: 'string', defaultValue: '/', description: 'what it is told as path', example: '/boilers' },
      query: { type: 'object', description: 'values of the query by name', example: { floor: 2 } },
      body: { type: 'any', description: 'what to send: text, or anything else as JSON', example: { temperature: 93 } },
    },
    touches: ({ name }) => (name === undefined ? [] : [`webscript ${name}`]),
    output: {
      status: { type: 'integer', description: 'the status of the answer' },
      data: { type: 'any', description: 'its body: parsed when it is JSON, else as text' },
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
      if (status < 200 || status > 299) throw new AppError('PLUG_FAILED', `${name} answered with status ${status}`)
      return { message: `${name} answered with status ${status}`, rawData: { status, data } }
    },
  })
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
