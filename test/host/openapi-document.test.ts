// Holds OPENAPI-1, OPENAPI-2, OPENAPI-3
import { Ajv } from 'ajv'
import { fastify, type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { host } from '../../src/host/index.ts'
import { EXAMPLES } from '../../src/host/openapi-examples.ts'
import {
  ApiStory,
  ENDLESS,
  JSON_TYPE,
  operationsOf,
  type Answer,
  type ApiDocument,
  type Ask,
  type Media,
  type Operation,
} from './api-story.ts'
import { basic } from './sample-host.ts'

let app: FastifyInstance
let document: ApiDocument
let operations: readonly Operation[]

beforeAll(async () => {
  app = fastify()
  await app.register(host, { store: 'memory:', key: 'k', secret: 's' })
  document = (await app.inject('/docs/json')).json<ApiDocument>()
  operations = operationsOf(document)
})
afterAll(() => app.close())

const asked = (url: string) => app.inject({ url, headers: { authorization: basic('k', 's') } })

/** Operations that are not as they should be, by id. */
const odd = (isOdd: (operation: Operation) => boolean): readonly string[] =>
  operations.filter(isOdd).map(({ operationId, method, path }) => `${operationId} ${method} ${path}`)

describe('every operation of the API', () => {
  it('has an id of its own, made of its method and path', () => {
    expect(operations.length).toBeGreaterThan(110)
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
    expect(odd(({ operationId }) => !/^[a-z]+[A-Za-z0-9]+$/.test(operationId))).toEqual([])
    const ids = operations.map(({ operationId }) => operationId)
    expect(ids).toEqual(
      expect.arrayContaining(['getTaskNode', 'postTasks', 'getAlarm', 'getBrokerResourceSeriesByMetric', 'getRoot']),
    )
  })

  it('says of each parameter what it means', () => {
    const bare = ({ parameters = [] }: Operation) => parameters.filter(({ description }) => !description)
    expect(odd((operation) => bare(operation).length > 0)).toEqual([])
  })

  it('says what it answers when all is well, by a schema with a name where that is JSON', () => {
    const good = ({ responses }: Operation) => Object.entries(responses).filter(([status]) => /^[12]/.test(status))
    expect(odd((operation) => good(operation).length === 0)).toEqual([])
    const isNamed = (media: Media | undefined) => media === undefined || media.schema?.$ref !== undefined
    expect(odd((one) => !good(one).every(([, { content }]) => isNamed(content?.[JSON_TYPE])))).toEqual([])
  })

  it('says that what stands behind it may fail', () => {
    const asking = operations.filter(
      ({ path, method }) => method === 'post' && /(?:predict|^\/data\/query)$/.test(path),
    )
    expect(asking.length).toBeGreaterThan(1)
    expect(asking.filter(({ responses }) => responses['502'] === undefined)).toEqual([])
  })

  it('takes times of lists in both forms that its host takes', async () => {
    const listing = document.paths['/api/tasks']?.['get']?.parameters ?? []
    const times = listing.filter(({ name }) => /^(?:created|finished)(?:Before|After)$/.test(name))
    expect(times).toHaveLength(3)
    for (const parameter of times) {
      expect(parameter).toMatchObject({ schema: { anyOf: [{ type: 'integer' }, { type: 'string' }] } })
      for (const time of ['-1', '1700000000000', '2026-01-31T12:00:00Z'])
        expect((await asked(`/api/tasks?${parameter.name}=${time}`)).statusCode).toBe(200)
    }
  })

  it('refuses in JSON alone', () => {
    const bad = ({ responses }: Operation) => Object.entries(responses).filter(([status]) => /^[45]/.test(status))
    const types = operations.flatMap((one) => bad(one).flatMap(([, { content = {} }]) => Object.keys(content)))
    expect(new Set(types)).toEqual(new Set([JSON_TYPE]))
  })

  it('that reads JSON has an example of it, and a schema with a name', () => {
    const body = ({ requestBody }: Operation) => requestBody?.content[JSON_TYPE]
    expect(odd((one) => body(one) !== undefined && body(one)?.example === undefined)).toEqual([])
    expect(odd((one) => body(one) !== undefined && body(one)?.schema?.$ref === undefined)).toEqual([])
    const known = new Set(operations.map(({ operationId }) => operationId))
    expect(Object.keys(EXAMPLES).filter((id) => !known.has(id))).toEqual([])
  })

  it('refers to schemas that are there', () => {
    const refs = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name)
    expect(refs.length).toBeGreaterThan(150)
    expect(refs.filter((name) => !Object.hasOwn(document.components.schemas, name))).toEqual([])
  })
})

/** What an answer has against its schema. */
function misfit({ responses, operationId }: Operation, { statusCode, headers, body }: Answer): unknown {
  const response = responses[statusCode] ?? responses[`${String(statusCode).slice(0, 1)}XX`]
  if (response === undefined) return [operationId, statusCode, 'is not described']
  if (body === '') return undefined
  const [type = ''] = String(headers['content-type']).split(';')
  const media = response.content?.[type]
  if (media === undefined) return [operationId, statusCode, `${type} is not described`]
  if (type !== JSON_TYPE) return undefined
  const ajv = new Ajv({ strict: false, validateFormats: false })
  const validate = ajv.compile({ ...media.schema, components: document.components })
  return validate(JSON.parse(body)) ? undefined : [operationId, statusCode, validate.errors, body.slice(0, 500)]
}

describe('the examples', () => {
  const credentials = { authorization: basic('k', 's') }
  const ask: Ask = ({ method = 'GET', headers = {}, ...more }) =>
    app.inject({ method: method as 'GET', headers: { ...credentials, ...headers }, ...more })
  const story = new ApiStory(ask)

  beforeAll(() => story.prepare())

  it('are what a host takes, one after the other, and it answers as it says', async () => {
    const failed: unknown[] = []
    for await (const [operation, answer] of story.tell(operations)) {
      if (answer.statusCode >= 300) failed.push([operation.operationId, answer.statusCode, answer.body])
      failed.push(misfit(operation, answer))
    }
    expect(failed.filter((one) => one !== undefined)).toEqual([])
  })

  it('make what every reading operation then shows by its schema', async () => {
    const page = await ask({ url: '/registry/v2/runtimes/web-node24/versions/1/example' })
    await story.upload('/registry/v2/webscripts?async=false&version=^1', page.rawPayload)
    const failed: unknown[] = []
    for (const operation of operations) {
      if (operation.method !== 'get' || ENDLESS.test(operation.operationId)) continue
      const answer = await ask({ url: story.urlOf(operation) })
      if (answer.statusCode !== 200) failed.push([operation.operationId, answer.statusCode, answer.body])
      failed.push(misfit(operation, answer))
    }
    expect(failed.filter((one) => one !== undefined)).toEqual([])
  })
})
