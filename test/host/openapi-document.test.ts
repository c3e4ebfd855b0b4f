// Holds OPENAPI-1, OPENAPI-2, OPENAPI-3
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { packTar } from 'modern-tar'
import { fastify, type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { host } from '../../src/host/index.ts'
import { EXAMPLES } from '../../src/host/openapi-examples.ts'
import { zipOf } from '../services/models/zip.ts'
import { until } from '../support/until.ts'
import { basic } from './sample-host.ts'

interface Media {
  readonly schema?: { readonly $ref?: string }
  readonly example?: unknown
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly description?: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, 'method' | 'path'>>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

const JSON_TYPE = 'application/json'
let app: FastifyInstance
let document: Document
let operations: readonly Operation[]

beforeAll(async () => {
  app = fastify()
  await app.register(host, { store: 'memory:', key: 'k', secret: 's' })
  document = (await app.inject('/docs/json')).json<Document>()
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, method, path })),
  )
})
afterAll(() => app.close())

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

/** What the story of the examples has made, by the beginning of its path. */
const made = new Map<string, string>()
const NAMES: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['/api/sensors', { name: 'condition', version: '1.2.0' }],
  ['/api/actions', { name: 'log', version: '1.0.0' }],
  ['/api/resourcetypes', { id: 'boiler' }],
  ['/registry/v2/runtimes', { name: 'plug-node24', range: '^1', '*': 'index.js' }],
  ['/registry/v2/plugs', { name: 'tooWarm', version: '1.0.0', '*': 'index.js', tag: 'cellar' }],
  ['/registry/v2/webscripts', { name: 'calls', version: '1.0.0', '*': 'index.js', tag: 'cellar' }],
  ['/registry/v2/models', { name: 'boilers', version: '1.0.0', '*': 'model.joblib', tag: 'cellar' }],
  ['/registry/v2/tags', { tag: 'cellar' }],
  ['/vault', { name: 'WEATHER_TOKEN' }],
  ['/registry/v2/runtimeTags', { tag: 'python' }],
  ['/registry/v2/schemas', { schema: 'plugs-manifest', functionType: 'plugs', role: 'manifest' }],
  ['/registry/v2/jobs', { type: 'build' }],
  ['/models', { name: 'boiler-heat' }],
  ['/frameworks', { name: 'xgboost' }],
  ['/api/v1/webscripts', { name: 'greet' }],
  ['/storage/v1', { bucket: 'assets', '*': '' }],
  ['/api/v1/{', { id: 'default', '*': 'greet' }],
]
/** What only models of TensorFlow take, which this host does not run. */
const UNSUPPORTED: ReadonlySet<string> = new Set(['postModelClassify', 'postModelRegress'])
const QUERIES: Readonly<Record<string, string>> = {
  patchTasks: '?template=demo-overheating',
  patchTemplates: '?name=demo-overheating',
  postTemplatesDebug: '?nodeToDebug=pump_runs',
  postTemplateDebug: '?nodeToDebug=pump_runs',
  getTaskExplain: '?node=alarm',
  getSchedulesNext: '?cron=0%200%20*%20*%20*',
  getBrokerResourceSeriesByMetric: '?aggregate=mean&grouping=1h',
}

/** Operations that replace what others need, on something else. */
const OTHERS: ReadonlyMap<string, string> = new Map([
  ['postModel', 'boiler-wear'],
  ['putModel', 'boiler-wear'],
])

/** The address of an operation on what is there. */
function urlOf({ operationId, path }: Operation): string {
  const id = [...made].find(([prefix]) => path.startsWith(prefix))?.[1] ?? 'boiler-1'
  const own = NAMES.find(([prefix]) => path.startsWith(prefix))?.[1]
  const values: Readonly<Record<string, string>> = {
    id,
    name: 'demo-overheating',
    node: 'pump_runs',
    metric: 'temperature',
    ...own,
    ...(OTHERS.has(operationId) && { name: OTHERS.get(operationId) ?? '' }),
  }
  const query =
    operationId === 'getTasklogs' ? `?taskId=${made.get('/api/tasks/') ?? ''}` : (QUERIES[operationId] ?? '')
  return path.replaceAll(/\{(\w+|\*)\}/g, (_all, name: string) => encodeURIComponent(values[name] ?? '')) + query
}

/** What an answer has against its schema. */
function misfit({ responses, operationId }: Operation, { statusCode, headers, body }: LightMyRequestResponse): unknown {
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
  const headers = { authorization: basic('k', 's') }
  const upload = async (path: string, payload: Buffer): Promise<void> => {
    const type = { 'content-type': 'application/gzip' }
    const answer = await app.inject({ method: 'POST', url: path, headers: { ...headers, ...type }, payload })
    const { updates = [] } = answer.json<{ entity: { updates?: { jobs?: string[] }[] } }>().entity
    const job = updates[0]?.jobs?.at(-1)
    if (job !== undefined) made.set('/registry/v2/jobs/', job)
  }

  /** The id of an import that is over. */
  const importOf = async (payload: string): Promise<string> => {
    const signed = await app.inject({ url: '/storage/v1/bucket/etl-import/upload/a.csv?sign=PUT', headers })
    const { href } = signed.json<{ _links: { put_object: { href: string } } }>()._links.put_object
    const { pathname, search, host } = new URL(href)
    const type = { 'content-type': 'text/csv' }
    await app.inject({ method: 'PUT', url: pathname + search, headers: { host, ...type }, payload })
    const imports = async () => {
      const answer = await app.inject({ url: '/storage/v1/import?state=completed', headers })
      return answer.json<{ imports: readonly { readonly id: string }[] }>().imports
    }
    await vi.waitUntil(async () => (await imports()).length > 0, { timeout: 10_000 })
    return (await imports())[0]?.id ?? ''
  }

  beforeAll(async () => {
    const manifest = { name: 'boilers', version: '1.0.0', runtime: 'byoml-sklearn' }
    const files = { 'model.json': JSON.stringify(manifest), 'model.joblib': '-', 'requirements.txt': '' }
    const entries = Object.entries(files).map(([name, body]) => ({ header: { name, size: body.length }, body }))
    await upload('/registry/v2/models?draft=true&deploy=false', Buffer.from(await packTar(entries)))
    const script = await app.inject({ url: '/registry/v2/runtimes/web-node24/versions/1/example', headers })
    await upload('/registry/v2/webscripts?draft=true&deploy=false&name=calls', script.rawPayload)
    const example = await app.inject({ url: '/registry/v2/runtimes/plug-node24/versions/1/example', headers })
    await upload('/registry/v2/plugs?draft=true&async=false', example.rawPayload)
    await uploadBooster()
    made.set('/storage/v1/import/', await importOf('resource,timestamp,level\npump-1,0,5\n'))
  })

  /** One of four features, and waits until it is ready. */
  async function uploadBooster(): Promise<void> {
    const goldens = new URL('../../fixtures/models/boosters/golden-3.2.0.json', import.meta.url)
    const { cases } = JSON.parse(readFileSync(goldens, 'utf8')) as { cases: { json: object }[] }
    const form = new FormData()
    const zip = zipOf({ 'model.bst': JSON.stringify(cases[0]?.json) })
    form.set('name', 'boiler-heat')
    form.set('framework', 'xgboost')
    form.set('file', new Blob([new Uint8Array(zip)]), 'model.zip')
    const sent = new Response(form)
    const type = { 'content-type': sent.headers.get('content-type') ?? '' }
    const payload = Buffer.from(await sent.arrayBuffer())
    await app.inject({ method: 'POST', url: '/models', headers: { ...headers, ...type }, payload })
    const info = () => app.inject({ url: '/models/boiler-heat', headers })
    await until(async () => (await info()).json<{ ready: boolean }>().ready)
  }

  it('are what a host takes, one after the other, and it answers as it says', async () => {
    const byId = new Map(operations.map((one) => [one.operationId, one]))
    const failed: unknown[] = []
    for (const id of Object.keys(EXAMPLES)) {
      if (UNSUPPORTED.has(id)) continue
      const operation = byId.get(id) ?? expect.fail(id)
      const example = operation.requestBody?.content[JSON_TYPE]?.example
      const body = id === 'postTasklogs' ? { ...(example as object), taskId: made.get('/api/tasks/') } : example
      const answer = await app.inject({
        method: operation.method.toUpperCase() as 'POST',
        url: urlOf(operation),
        headers: { ...headers, 'content-type': JSON_TYPE },
        payload: JSON.stringify(body),
      })
      if (answer.statusCode >= 300) failed.push([id, answer.statusCode, answer.body])
      failed.push(misfit(operation, answer))
      if (id === 'postTasks') made.set('/api/tasks/', answer.json<{ ID: string }>().ID)
      if (id === 'postAlarms') made.set('/alarm/alarms/', answer.json<{ id: string }>().id)
      const { entity } = answer.headers['content-type']?.includes('ndjson')
        ? {}
        : answer.json<{ entity?: { id?: string } }>()
      if (id === 'postResourceconstraints') made.set('/api/resourceconstraints/', entity?.id ?? '')
      if (id === 'postV1Webscripts') {
        const { operation } = answer.json<{ operation: { id: string } }>()
        made.set('/api/v1/webscripts/operations/', operation.id)
      }
      if (id === 'postExport') made.set('/storage/v1/export/', answer.json<{ id: string }>().id)
      if (id === 'postBatch') made.set('/api/batch/', entity?.id ?? '')
      if (id === 'postAlarmBatch') made.set('/batch/', entity?.id ?? '')
    }
    expect(failed.filter((one) => one !== undefined)).toEqual([])
  })

  it('make what every reading operation then shows by its schema', async () => {
    const page = await app.inject({ url: '/registry/v2/runtimes/web-node24/versions/1/example', headers })
    const payload = page.rawPayload
    const gzip = { ...headers, 'content-type': 'application/gzip' }
    await app.inject({ method: 'POST', url: '/registry/v2/webscripts?async=false&version=^1', headers: gzip, payload })
    const ENDLESS = /Events$|getBrokerMessages|Subscribe$|Publish$|Socket$|Script$|getDiscoveryTemplate/
    const failed: unknown[] = []
    for (const operation of operations) {
      if (operation.method !== 'get' || ENDLESS.test(operation.operationId)) continue
      const answer = await app.inject({ url: urlOf(operation), headers })
      if (answer.statusCode !== 200) failed.push([operation.operationId, answer.statusCode, answer.body])
      failed.push(misfit(operation, answer))
    }
    expect(failed.filter((one) => one !== undefined)).toEqual([])
  })
})
