/** Every route that writes, asked with bodies of which one place is wrong: it refuses or takes them, and never fails. */
import { fastify, type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_TEMPLATE } from '../../src/host/demo.ts'
import { host } from '../../src/host/index.ts'
import { isPlainObject } from '../../src/kernel/json.ts'
import {
  ApiStory,
  ENDLESS,
  JSON_TYPE,
  operationsOf,
  type Answer,
  type ApiDocument,
  type Ask,
  type Operation,
} from './api-story.ts'
import { some } from '../support/arbitraries/runs.ts'
import { printedRoutes } from './printed-routes.ts'
import { basic } from './sample-host.ts'

const WRONG: readonly unknown[] = [null, true, 5, 1e300, '', 'x', [], [null], [{}], {}, { m: 'M7' }, { name: {} }]
/** Levels of a body at which every wrong value is put in each place; below these, one of them. */
const LEVELS = 1

const { sensors, relations, actuators, triggers } = DEMO_TEMPLATE
const task = { name: 'Boiler 1', resource: 'boiler-1' }
const nodes = [{ type: 'sensor', label: 'any', name: 'stream', properties: {} }]
/** Bodies of other forms than the example has. */
const OTHERS: Readonly<Record<string, readonly object[]>> = {
  postTasks: [
    { sensors, relations, actuators, triggers, task },
    { nodes, posterior: [], task },
    { ...task, network: { nodes, posterior: [] } },
  ],
  putTask: [
    { sensors, relations, actuators, triggers, task },
    { nodes, posterior: [], task },
  ],
  postData: [{ resource: 'boiler-1', nodes: [{ node: 'pump_runs', state: 'False' }] }],
  postTemplatesRun: [{ graph: { sensors, task }, nodesRawData: { pump_runs: { pump: true } } }],
  patchTasks: [
    { operation: 'command', command: 'stop' },
    { operation: 'update', settings: { frequency: 5 } },
  ],
}

interface Schema {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

let app: FastifyInstance
let document: ApiDocument
let story: ApiStory
let operations: readonly Operation[]
const ask: Ask = ({ method = 'GET', headers = {}, ...more }) =>
  app.inject({ method: method as 'GET', headers: { authorization: basic('k', 's'), ...headers }, ...more })

beforeAll(async () => {
  app = fastify()
  await app.register(host, { store: 'memory:', key: 'k', secret: 's' })
  document = (await app.inject('/docs/json')).json<ApiDocument>()
  operations = operationsOf(document)
  story = new ApiStory(ask)
  await story.prepare()
  for await (const [{ operationId }, { statusCode, body }] of story.tell(operations))
    if (statusCode >= 300) throw new Error(`${operationId}: ${body}`)
})
afterAll(() => app.close())

/** Fields that an object may have by its schemas, with the schemas of each. */
function fieldsOf(schemas: readonly Schema[], seen = new Set<Schema>()): ReadonlyMap<string, readonly Schema[]> {
  const all = new Map<string, Schema[]>()
  const add = (name: string, more: readonly Schema[]) => all.set(name, [...(all.get(name) ?? []), ...more])
  for (const schema of schemas) {
    if (seen.has(schema)) continue
    seen.add(schema)
    const { $ref, properties = {}, anyOf = [], oneOf = [], allOf = [] } = schema
    for (const [name, one] of Object.entries(properties)) add(name, [one])
    const named = $ref === undefined ? [] : [document.components.schemas[$ref.split('/').at(-1) ?? ''] as Schema]
    for (const [name, more] of fieldsOf([...named, ...anyOf, ...oneOf, ...allOf], seen)) add(name, more)
  }
  return all
}

/** The value with wrong ones in each place: of itself, its items and fields, and of fields that it could have. */
function* wrongOf(value: unknown, schemas: readonly Schema[], level = 0, turn = { at: 0 }): Generator<unknown> {
  if (level <= LEVELS) yield* WRONG
  else yield WRONG[turn.at++ % WRONG.length]
  if (Array.isArray(value)) {
    const items = schemas.flatMap((one) => (one.items === undefined ? [] : [one.items]))
    for (const wrong of value.length === 0 ? [] : wrongOf(value[0], items, level + 1, turn)) yield value.with(0, wrong)
  } else if (isPlainObject(value)) {
    const fields = fieldsOf(schemas)
    for (const name of new Set([...Object.keys(value), ...fields.keys()]))
      for (const wrong of wrongOf(value[name], fields.get(name) ?? [], level + 1, turn))
        yield { ...value, [name]: wrong }
  }
}

/** What a route is not to answer: that it failed, or nothing that is JSON about a refusal. */
const isFailure = ({ statusCode }: Answer): boolean => statusCode >= 500 && statusCode !== 501 && statusCode !== 503

describe('a body of which one place is wrong', () => {
  it('fails no route that reads JSON, and what it leaves behind fails no route that reads', async () => {
    const failed = new Map<string, string>()
    const asked = new Map<string, number>()
    for (const operation of operations) {
      const { operationId, method, requestBody } = operation
      const media = requestBody?.content[JSON_TYPE]
      if (media?.example === undefined) continue
      for (const right of [media.example, ...(OTHERS[operationId] ?? [])]) {
        for (const body of some([...wrongOf(right, [media.schema as Schema])])) {
          const payload = JSON.stringify(body)
          const headers = { 'content-type': JSON_TYPE }
          const answer = await ask({ method: method.toUpperCase(), url: story.urlOf(operation), headers, payload })
          asked.set(operationId, (asked.get(operationId) ?? 0) + 1)
          if (isFailure(answer)) failed.set(`${operationId} ${answer.statusCode}`, payload)
        }
      }
    }
    expect(asked.size).toBeGreaterThan(75)
    expect(Math.min(...asked.values())).toBeGreaterThanOrEqual(some(WRONG).length)
    for (const operation of operations) {
      if (operation.method !== 'get' || ENDLESS.test(operation.operationId)) continue
      const answer = await ask({ url: story.urlOf(operation) })
      if (isFailure(answer)) failed.set(`${operation.operationId} ${answer.statusCode}`, answer.body)
    }
    expect(failed).toEqual(new Map())
  })
})

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

describe('bytes that are no body of the route', () => {
  it('fail none of the routes that the host has', async () => {
    const failed = new Map<string, string>()
    const routes = printedRoutes(app).filter(({ method }) => method !== 'GET')
    expect(routes.length).toBeGreaterThan(120)
    for (const { method, url } of routes) {
      for (const [type, payload] of BODIES) {
        const answer = await ask({ method, url, headers: { 'content-type': type }, payload })
        if (isFailure(answer)) failed.set(`${method} ${url} ${answer.statusCode} ${type}`, answer.body)
      }
    }
    expect(failed).toEqual(new Map())
  })
})
