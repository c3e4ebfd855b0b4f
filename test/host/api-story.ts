/**
 * Sends the examples of the API page to a host, one after another. Uploads what the examples need first, and remembers
 * ids from responses for the paths of later requests.
 */
import { readFileSync } from 'node:fs'
import { fastify } from 'fastify'
import { packTar } from 'modern-tar'
import { host, type HostOptions } from '../../src/host/index.ts'
import { EXAMPLES } from '../../src/host/openapi-examples.ts'
import { until } from '../support/until.ts'
import { boosterForm } from './model-form.ts'
import { basic } from './sample-host.ts'

export interface Media {
  readonly schema?: { readonly $ref?: string }
  readonly example?: unknown
}

export interface Operation {
  readonly method: string
  readonly path: string
  readonly operationId: string
  readonly tags: readonly string[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly description?: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, 'method' | 'path'>>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

export interface Asked {
  readonly method?: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly payload?: string | Buffer
}

export interface Answer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
  readonly rawPayload: Buffer
}

/** Sends a request with credentials to a host. */
export type Ask = (asked: Asked) => Promise<Answer>

/** Creates a host in memory, mounted in a server, with its API page. */
export async function storyHost(given: HostOptions = { store: 'memory:' }) {
  const app = fastify()
  await app.register(host, { key: 'k', secret: 's', ...given })
  const ask: Ask = ({ method = 'GET', headers = {}, ...more }) =>
    app.inject({ method: method as 'GET', headers: { authorization: basic('k', 's'), ...headers }, ...more })
  const document = (await app.inject('/docs/json')).json<ApiDocument>()
  return { app, ask, document, operations: operationsOf(document), story: new ApiStory(ask) }
}

export type StoryHost = Awaited<ReturnType<typeof storyHost>>

export function operationsOf(document: ApiDocument): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, method, path })),
  )
}

/** Operations whose responses never end, those that depend on discovered data or a notification, and one that needs a cookie. */
export const ENDLESS =
  /Events$|getBrokerMessages|Subscribe$|Publish$|Socket$|Script$|getDiscoveryTemplate|getAuthV1Session$|getNotificationAlarm(?:Notification|Link)$/

export const JSON_TYPE = 'application/json'

const NAMES: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['/api/sensors', { name: 'condition', version: '1.2.0' }],
  ['/api/actions', { name: 'log', version: '1.0.0' }],
  ['/api/tasks/{id}/versions', { version: '1' }],
  ['/api/resourcetypes', { id: 'boiler' }],
  ['/registry/v2/runtimes', { name: 'plug-node24', range: '^1', '*': 'index.js' }],
  ['/registry/v2/plugs', { name: 'tooWarm', version: '1.0.0', '*': 'index.js', tag: 'cellar' }],
  ['/registry/v2/webscripts', { name: 'calls', version: '1.0.0', '*': 'index.js', tag: 'cellar' }],
  ['/registry/v2/models', { name: 'boilers', version: '1.0.0', '*': 'model.joblib', tag: 'cellar' }],
  ['/registry/v2/tags', { tag: 'cellar' }],
  ['/alarm/types', { type: 'OVERHEATED' }],
  ['/vault', { name: 'WEATHER_TOKEN' }],
  ['/registry/v2/runtimeTags', { tag: 'python' }],
  ['/registry/v2/schemas', { schema: 'plugs-manifest', functionType: 'plugs', role: 'manifest' }],
  ['/registry/v2/jobs', { type: 'build' }],
  ['/models', { name: 'boiler-heat' }],
  ['/frameworks', { name: 'xgboost' }],
  ['/api/v1/webscripts', { name: 'greet' }],
  ['/storage/v1', { bucket: 'assets', '*': '' }],
  ['/api/v1/{', { '*': 'greet' }],
]
/** Operations that only TensorFlow models support, which this host does not run. */
const UNSUPPORTED: ReadonlySet<string> = new Set(['postModelClassify', 'postModelRegress'])
const QUERIES: Readonly<Record<string, string>> = {
  patchTasks: '?template=demo-overheating',
  patchTemplates: '?name=demo-overheating',
  postTemplatesDebug: '?nodeToDebug=pump_runs',
  postTemplateDebug: '?nodeToDebug=pump_runs',
  getTaskExplain: '?node=alarm',
  getSchedulesNext: '?cron=0%200%20*%20*%20*',
  getPrometheusApiV1Query: '?query=temperature',
  getPrometheusApiV1QueryRange: '?query=temperature&start=0&end=60&step=15s',
  getPrometheusApiV1Series: '?match[]=temperature',
  getBrokerResourceSeriesByMetric: '?aggregate=mean&grouping=1h',
}

/** Operations that would replace what others need, with the name to use instead. */
const OTHERS: ReadonlyMap<string, string> = new Map([
  ['postModel', 'boiler-wear'],
  ['putModel', 'boiler-wear'],
])

export class ApiStory {
  /** Ids of what was created, by path prefix. */
  readonly made = new Map<string, string>()
  readonly #ask: Ask
  readonly #tenant: string

  constructor(ask: Ask, tenant = 'default') {
    this.#ask = ask
    this.#tenant = tenant
  }

  /** Creates what operations need but no example creates. */
  async prepare(): Promise<void> {
    const rule = {
      ...(EXAMPLES['postVariableDeclarations'] as object),
      task: { name: 'of a rule', resource: 'boiler-2' },
    }
    const payload = JSON.stringify(rule)
    const headers = { 'content-type': JSON_TYPE }
    const made = await this.#ask({ method: 'POST', url: '/api/tasks', headers, payload })
    this.made.set('/api/tasks/{id}/versions', (json(made) as { ID: string }).ID)
    const manifest = { name: 'boilers', version: '1.0.0', runtime: 'byoml-sklearn' }
    const files = { 'model.json': JSON.stringify(manifest), 'model.joblib': '-', 'requirements.txt': '' }
    const entries = Object.entries(files).map(([name, body]) => ({ header: { name, size: body.length }, body }))
    await this.upload('/registry/v2/models?draft=true&deploy=false', Buffer.from(await packTar(entries)))
    const script = await this.#ask({ url: '/registry/v2/runtimes/web-node24/versions/1/example' })
    await this.upload('/registry/v2/webscripts?draft=true&deploy=false&name=calls', script.rawPayload)
    const example = await this.#ask({ url: '/registry/v2/runtimes/plug-node24/versions/1/example' })
    await this.upload('/registry/v2/plugs?draft=true&async=false', example.rawPayload)
    await this.#uploadBooster()
    this.made.set('/storage/v1/import/', await this.#importOf('resource,timestamp,level\npump-1,0,5\n'))
  }

  async upload(url: string, payload: Buffer): Promise<void> {
    const answer = await this.#ask({ method: 'POST', url, headers: { 'content-type': 'application/gzip' }, payload })
    const { updates = [] } = (json(answer) as { entity: { updates?: { jobs?: string[] }[] } }).entity
    const job = updates[0]?.jobs?.at(-1)
    if (job !== undefined) this.made.set('/registry/v2/jobs/', job)
  }

  /** Sends all examples; rejects when one fails. */
  async whole(operations: readonly Operation[]): Promise<void> {
    await this.prepare()
    for await (const [{ operationId }, { statusCode, body }] of this.tell(operations))
      if (statusCode >= 300) throw new Error(`${operationId}: ${body}`)
  }

  /** Sends each example, and yields its operation with the response. */
  async *tell(operations: readonly Operation[]): AsyncGenerator<readonly [Operation, Answer]> {
    const byId = new Map(operations.map((one) => [one.operationId, one]))
    for (const id of Object.keys(EXAMPLES)) {
      if (UNSUPPORTED.has(id)) continue
      const operation = byId.get(id)
      if (operation === undefined) throw new Error(`there is no operation ${id}`)
      const example = operation.requestBody?.content[JSON_TYPE]?.example
      const body = await this.#bodyOf(id, example)
      const answer = await this.#ask({
        method: operation.method.toUpperCase(),
        url: this.urlOf(operation),
        headers: { 'content-type': JSON_TYPE },
        payload: JSON.stringify(body),
      })
      const isStream = String(answer.headers['content-type']).startsWith('text/event-stream')
      if (answer.statusCode < 300 && !isStream) this.#remember(id, answer)
      yield [operation, answer]
    }
  }

  async #bodyOf(id: string, example: unknown): Promise<unknown> {
    const task = this.made.get('/api/tasks/') ?? ''
    if (id === 'postTasklogs') return { ...(example as object), taskId: task }
    if (id !== 'postTaskReplay') return example
    const { values } = json(await this.#ask({ url: `/api/tasks/${task}/inputs` })) as {
      values: readonly { readonly position: number; readonly message?: object }[]
    }
    return { at: values.find(({ message }) => message !== undefined)?.position, remove: true }
  }

  /** Returns the path of an operation, with the ids of what exists. */
  urlOf({ operationId, path }: Operation): string {
    const id = [...this.made].find(([prefix]) => path.startsWith(prefix))?.[1] ?? 'boiler-1'
    const own = NAMES.find(([prefix]) => path.startsWith(prefix))?.[1]
    const values: Readonly<Record<string, string>> = {
      id: path.startsWith('/api/v1/{') ? this.#tenant : id,
      key: id,
      name: 'demo-overheating',
      node: 'pump_runs',
      metric: 'temperature',
      ...own,
      ...(OTHERS.has(operationId) && { name: OTHERS.get(operationId) ?? '' }),
    }
    const query =
      operationId === 'getTasklogs' ? `?taskId=${this.made.get('/api/tasks/') ?? ''}` : (QUERIES[operationId] ?? '')
    return path.replaceAll(/\{(\w+|\*)\}/g, (_all, name: string) => encodeURIComponent(values[name] ?? '')) + query
  }

  #remember(id: string, answer: Answer): void {
    if (id === 'postTasks') this.made.set('/api/tasks/', (json(answer) as { ID: string }).ID)
    if (id === 'postAlarms') this.made.set('/alarm/alarms/', (json(answer) as { id: string }).id)
    if (String(answer.headers['content-type']).includes('ndjson')) return
    if (id === 'postAuthV1Keys') this.made.set('/auth/v1/keys/', (json(answer) as { key: string }).key)
    const { entity } = json(answer) as { entity?: { id?: string } }
    if (id === 'postResourceconstraints') this.made.set('/api/resourceconstraints/', entity?.id ?? '')
    if (id === 'postV1Webscripts') {
      const { operation } = json(answer) as { operation: { id: string } }
      this.made.set('/api/v1/webscripts/operations/', operation.id)
    }
    if (id === 'postTemplateRollouts')
      this.made.set('/api/templates/{name}/rollouts/', (json(answer) as { id: string }).id)
    if (id === 'postRehearsals') this.made.set('/api/rehearsals/', (json(answer) as { id: string }).id)
    if (id === 'postExport') this.made.set('/storage/v1/export/', (json(answer) as { id: string }).id)
    if (id === 'postBatch') this.made.set('/api/batch/', entity?.id ?? '')
    if (id === 'postAlarmBatch') this.made.set('/batch/', entity?.id ?? '')
  }

  /** Imports `payload` and returns the id of the finished import. */
  async #importOf(payload: string): Promise<string> {
    const signed = await this.#ask({ url: '/storage/v1/bucket/etl-import/upload/a.csv?sign=PUT' })
    const { href } = (json(signed) as { _links: { put_object: { href: string } } })._links.put_object
    const { pathname, search, host } = new URL(href)
    await this.#ask({ method: 'PUT', url: pathname + search, headers: { host, 'content-type': 'text/csv' }, payload })
    let id: string | undefined
    await until(async () => {
      const answer = await this.#ask({ url: '/storage/v1/import?state=completed' })
      id = (json(answer) as { imports: readonly { readonly id: string }[] }).imports[0]?.id
      return id !== undefined
    })
    return id ?? ''
  }

  /** Uploads a booster with four features, and waits until it is ready. */
  async #uploadBooster(): Promise<void> {
    const goldens = new URL('../../fixtures/models/boosters/golden-3.2.0.json', import.meta.url)
    const { cases } = JSON.parse(readFileSync(goldens, 'utf8')) as { cases: { json: object }[] }
    const form = await boosterForm('boiler-heat', JSON.stringify(cases[0]?.json))
    await this.#ask({ method: 'POST', url: '/models', ...form })
    await until(async () => (json(await this.#ask({ url: '/models/boiler-heat' })) as { ready: boolean }).ready)
  }
}

function json({ body }: Answer): unknown {
  return JSON.parse(body)
}
