// Holds OPENAPI-1, OPENAPI-2, OPENAPI-3
import { Ajv, type ValidateFunction } from 'ajv'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EXAMPLES } from '../../src/host/openapi-examples.ts'
import { ENDLESS, JSON_TYPE, type Answer, type Media, type Operation, storyHost, type StoryHost } from './api-story.ts'
import { printedRoutes } from './printed-routes.ts'

let host: StoryHost
const ajv = new Ajv({ strict: false, validateFormats: false })
beforeAll(async () => {
  host = await storyHost()
  ajv.addSchema({ components: host.document.components }, 'page')
})

/** Compiles the validator of a schema; named schemas are compiled once. */
function validatorOf({ schema = {} }: Media): ValidateFunction {
  const { $ref } = schema
  const named = $ref === undefined ? undefined : ajv.getSchema(`page${$ref}`)
  return named ?? ajv.compile({ ...schema, components: host.document.components })
}
afterAll(() => host.app.close())

/** Returns the ids of operations that violate a rule. */
const odd = (isOdd: (operation: Operation) => boolean): readonly string[] =>
  host.operations.filter(isOdd).map(({ operationId, method, path }) => `${operationId} ${method} ${path}`)

describe('every operation of the API', () => {
  it('has an id of its own', () => {
    const ids = host.operations.map(({ operationId }) => operationId)
    expect(odd(({ operationId }) => ids.indexOf(operationId) !== ids.lastIndexOf(operationId))).toEqual([])
  })

  it('describes each parameter', () => {
    const bare = ({ parameters = [] }: Operation) => parameters.filter(({ description }) => !description)
    expect(odd((operation) => bare(operation).length > 0)).toEqual([])
  })

  it('describes its successful response, with a named schema for JSON', () => {
    const good = ({ responses }: Operation) => Object.entries(responses).filter(([status]) => /^[12]/.test(status))
    expect(odd((operation) => good(operation).length === 0)).toEqual([])
    const isNamed = (media: Media | undefined) => media === undefined || media.schema?.$ref !== undefined
    expect(odd((one) => !good(one).every(([, { content }]) => isNamed(content?.[JSON_TYPE])))).toEqual([])
  })

  it('that reads JSON has an example of it, and a schema with a name', () => {
    const body = ({ requestBody }: Operation) => requestBody?.content[JSON_TYPE]
    expect(odd((one) => body(one) !== undefined && body(one)?.example === undefined)).toEqual([])
    expect(odd((one) => body(one) !== undefined && body(one)?.schema?.$ref === undefined)).toEqual([])
    const known = new Set(host.operations.map(({ operationId }) => operationId))
    expect(Object.keys(EXAMPLES).filter((id) => !known.has(id))).toEqual([])
  })
})

/** Returns how a response violates its schema. */
function misfit({ responses, operationId }: Operation, { statusCode, headers, body }: Answer): unknown {
  const response = responses[statusCode] ?? responses[`${String(statusCode).slice(0, 1)}XX`]
  if (response === undefined) return [operationId, statusCode, 'is not described']
  if (body === '') return undefined
  const [type = ''] = String(headers['content-type']).split(';')
  const media = response.content?.[type]
  if (media === undefined) return [operationId, statusCode, `${type} is not described`]
  if (type !== JSON_TYPE) return undefined
  const validate = validatorOf(media)
  return validate(JSON.parse(body)) ? undefined : [operationId, statusCode, validate.errors, body.slice(0, 500)]
}

describe('the examples', () => {
  beforeAll(() => host.story.prepare())

  it('are accepted one after the other, with the described responses', async () => {
    const failed: unknown[] = []
    for await (const [operation, answer] of host.story.tell(host.operations)) {
      if (answer.statusCode >= 300) failed.push([operation.operationId, answer.statusCode, answer.body])
      failed.push(misfit(operation, answer))
    }
    expect(failed.filter((one) => one !== undefined)).toEqual([])
  })

  it('create data that every reading operation returns according to its schema', async () => {
    const page = await host.ask({ url: '/registry/v2/runtimes/web-node24/versions/1/example' })
    await host.story.upload('/registry/v2/webscripts?async=false&version=^1', page.rawPayload)
    const failed: unknown[] = []
    for (const operation of host.operations) {
      if (operation.method !== 'get' || ENDLESS.test(operation.operationId)) continue
      const answer = await host.ask({ url: host.story.urlOf(operation) })
      if (answer.statusCode !== 200) failed.push([operation.operationId, answer.statusCode, answer.body])
      failed.push(misfit(operation, answer))
    }
    expect(failed.filter((one) => one !== undefined)).toEqual([])
  })
})

/** Whether a response is unacceptable: a server error, or an error without JSON. */
const isFailure = ({ statusCode }: Answer): boolean => statusCode >= 500 && statusCode !== 501 && statusCode !== 503

const GZIP = Buffer.from('H4sIAAAAAAAAA', 'base64')
const BODIES: readonly (readonly [string, Buffer])[] = [
  [JSON_TYPE, Buffer.from('null')],
  [JSON_TYPE, Buffer.from('{"a":')],
  [JSON_TYPE, Buffer.from([0xff, 0xfe, 0])],
  ['text/plain', Buffer.from('x')],
  ['application/octet-stream', Buffer.from([0, 1, 2, 255])],
  ['application/gzip', GZIP],
  ['application/x-tar', Buffer.alloc(1024, 7)],
  ['application/zip', Buffer.from('PK\u0003\u0004')],
  ['application/x-www-form-urlencoded', Buffer.from('%zz=%')],
  ['multipart/form-data', Buffer.from('--x')],
  ['multipart/form-data; boundary=x', Buffer.from('--x\r\n\r\n')],
  ['application/x-ndjson', Buffer.from('{}\nnull\n{')],
  ['text/csv', Buffer.from('a,"b\n')],
]

describe('bytes that are not a body of the route', () => {
  // the host has the data of the examples
  it('fail none of the routes that the host has', async () => {
    const failed = new Map<string, string>()
    const routes = printedRoutes(host.app).filter(({ method }) => method !== 'GET')
    expect(routes.length).toBeGreaterThan(120)
    for (const { method, url } of routes) {
      for (const [type, payload] of BODIES) {
        const answer = await host.ask({ method, url, headers: { 'content-type': type }, payload })
        if (isFailure(answer)) failed.set(`${method} ${url} ${answer.statusCode} ${type}`, answer.body)
      }
    }
    expect(failed).toEqual(new Map())
  })
})
