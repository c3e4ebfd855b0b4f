/** The functions service over fetch: the same contract, for the command line and for other processes. */
import { AppError } from '../../kernel/errors.ts'
import { isPlainObject } from '../../kernel/json.ts'
import { pathOf, typed, type Ask, type Http, type Method } from '../../web/client/http.ts'
import { textEvents } from '../../web/client/streams.ts'
import { tarOf } from '../../web/client/tar.ts'
import type {
  Change,
  FunctionJob,
  FunctionJobEvent,
  FunctionOfJob,
  FunctionPage,
  FunctionQuery,
  FunctionsApi,
  FunctionType,
  FunctionVersion,
  JobsApi,
  JobType,
  ListedFunction,
  RelatedVersion,
  Removal,
} from './contract.ts'
import { FUNCTION_TYPES, TYPE_NAMES } from './function-type.ts'

const JOBS = '/registry/v2/jobs'

type Wire = Readonly<Record<string, unknown>>
/** What belongs to the answer and not to the version. */
interface Entity {
  readonly status: string
  readonly draft: boolean
  readonly deprecated: boolean
  /** its manifest, under the noun of its type */
  readonly [noun: string]: unknown
}
interface Link {
  readonly version: string
  readonly draft: boolean
  readonly deprecated: boolean
}
interface Listed extends Entity {
  readonly _links?: { readonly draft?: Link; readonly published?: Link }
  readonly _embedded?: { readonly draft?: Entity; readonly published?: Entity }
}
interface JobLink {
  readonly href: string
  readonly jobType?: JobType
}

/** Functions by their type. */
export type FunctionsClient = Readonly<Record<FunctionType, FunctionsApi>>

/**
 * What the caller behind the credentials can do. Errors are the same AppErrors, as far as the wire tells them apart.
 * Types of answers are those of the contract; the client does not check them again.
 */
export function functionsClient(http: Http): FunctionsClient {
  return { plugs: clientOf(http, 'plugs'), webscripts: clientOf(http, 'webscripts'), models: clientOf(http, 'models') }
}

function clientOf(http: Http, type: FunctionType): FunctionsApi {
  const all = pathOf`/registry/v2/${type}`
  const versionFrom = (entity: Entity): FunctionVersion => versionOfType(type, entity)
  const versionOf = (name: string, version: string): string => all + pathOf`/${name}/versions/${version}`
  const single = async (path: string, query: Ask['query'] = {}): Promise<FunctionVersion> => {
    const { entity } = await typed<{ readonly entity: Entity }>(http.json('GET', path, { query }))
    return versionFrom(entity)
  }
  const change = async (method: Method, path: string, ask: Ask): Promise<Change> => {
    const answer = await typed<{ message: string; entity: Entity; _links?: { job?: JobLink } }>(
      http.json(method, path, ask),
    )
    const job = jobFrom(answer._links?.job)
    const { message } = answer
    return { message, entity: versionFrom(answer.entity), isDone: job === undefined, ...(job && { job }) }
  }
  const upload = (assets: ReadonlyMap<string, Uint8Array>): Pick<Ask, 'body' | 'headers'> => {
    return { body: tarOf(assets), headers: { 'content-type': 'application/x-tar' } }
  }
  const bytes = async (path: string): Promise<Uint8Array> => {
    return new Uint8Array(await (await http.open('GET', path)).arrayBuffer())
  }
  return {
    create: (assets, options = {}) => change('POST', all, { ...upload(assets), query: { ...options } }),
    list: async ({ exactName, wql, ...query }) => {
      if (wql !== undefined)
        throw new AppError('VALIDATION', 'a function over tags cannot be sent; filter what is listed')
      const path = exactName === undefined ? all : all + pathOf`/${exactName}/versions`
      return pageFrom(type, await typed(http.json('GET', path, { query: queryOf(query) })), query)
    },
    latest: (name, inclusion = {}) => single(all + pathOf`/${name}`, { ...inclusion }),
    get: (name, version) => single(versionOf(name, version)),
    content: (name, version) => bytes(`${versionOf(name, version)}/content`),
    assets: async (name, version) => {
      const path = `${versionOf(name, version)}/content?ls=true`
      const { assets } = await typed<{ assets: { name: string; size: number }[] }>(http.json('GET', path))
      return assets.map((one) => ({ path: one.name, size: one.size }))
    },
    asset: (name, version, path) => bytes(assetPath(versionOf(name, version), path)),
    putAssets: (name, version, assets, options = {}) => {
      return change('PUT', `${versionOf(name, version)}/content`, { ...upload(assets), query: { ...options } })
    },
    removeAsset: (name, version, path, options = {}) => {
      return change('DELETE', assetPath(versionOf(name, version), path), { query: { ...options } })
    },
    publish: (name, version, options = {}) => {
      return change('POST', `${versionOf(name, version)}/publish`, { query: { ...options } })
    },
    rebuild: (name, version, { comment } = {}) => {
      return change('POST', `${versionOf(name, version)}/rebuild`, { query: { comment } })
    },
    verify: (name, version, { comment } = {}) => {
      return change('POST', `${versionOf(name, version)}/verify`, { query: { comment } })
    },
    remove: async (name, version, options = {}): Promise<Removal> => {
      const path = version === undefined ? all + pathOf`/${name}` : versionOf(name, version)
      const answer = await typed<{ message: string; versions: string[]; _links?: { job?: JobLink } }>(
        http.json('DELETE', path, { query: { ...options } }),
      )
      const job = jobFrom(answer._links?.job)
      return { message: answer.message, versions: answer.versions, ...(job && { job }) }
    },
    log: async (name, version) => {
      const answer = http.json('GET', `${versionOf(name, version)}/log`)
      const { lines } = await typed<{ lines: { time: string; level: string; text: string }[] }>(answer)
      return lines.map((line) => ({ ...line, time: Date.parse(line.time) }))
    },
    jobs: jobsClient(http, type),
  }
}

function jobsClient(http: Http, functionType: FunctionType): JobsApi {
  const events: JobsApi['events'] = async function* ({ signal, ...query }) {
    const answer = await http.open('GET', `${JOBS}/events`, { query: { ...query }, signal })
    for await (const { event = '', data } of textEvents(answer)) {
      if (event === 'keep-alive') continue
      yield eventFrom(event as FunctionJobEvent['event'], data)
      if (event === 'close') return
    }
  }
  return {
    events,
    get: async (type, id) => {
      const { job } = await typed<{ job: Wire }>(http.json('GET', pathOf`/registry/v2/jobs/${type}/${id}`))
      return jobOf({ ...job, id })
    },
    list: async ({ createdAfter, createdBefore, name, version, types, states, functionTypes, limit }) => {
      if (name !== undefined && version === undefined) {
        throw new AppError('VALIDATION', 'jobs of a function are those of one of its versions; name it')
      }
      const path =
        name === undefined ? JOBS : pathOf`/registry/v2/${functionType}/${name}/versions/${version ?? ''}/jobs`
      const times = { createdAfter: instantOf(createdAfter), createdBefore: instantOf(createdBefore) }
      const query = { limit, type: types, state: states, functionType: functionTypes, ...times }
      const { jobs } = await typed<{ jobs: Wire[] }>(http.json('GET', path, { query }))
      return jobs.map(jobOf)
    },
    finished: async (id) => {
      const over = new AbortController()
      for await (const { event } of events({ id, signal: over.signal })) if (event === 'close') return
    },
  }
}

function versionOfType(type: FunctionType, entity: Entity): FunctionVersion {
  const { status, draft, deprecated } = entity
  const { name, version } = entity[TYPE_NAMES[type].noun] as { readonly name: string; readonly version: string }
  return { type, name, version, status, draft, deprecated, record: { ...entity } }
}

function pageFrom(
  type: FunctionType,
  { entities, ...page }: Omit<FunctionPage, 'entities'> & { readonly entities: readonly Listed[] },
  { showRelated }: FunctionQuery,
): FunctionPage {
  return { ...page, entities: entities.map((one) => listedFrom(type, one, showRelated)) }
}

function listedFrom(
  type: FunctionType,
  { _links: links = {}, _embedded: embedded = {}, ...entity }: Listed,
  asked: FunctionQuery['showRelated'],
): ListedFunction {
  const listed = versionOfType(type, entity)
  const related = (role: 'draft' | 'published'): RelatedVersion | undefined => {
    const [whole, link] = [embedded[role], links[role]]
    if (whole !== undefined) return versionOfType(type, whole)
    if (link === undefined) return undefined
    const { version, draft, deprecated } = link
    return { type, name: listed.name, version, draft, deprecated }
  }
  const [draft, published] = [related('draft'), related('published')]
  const isAlone = draft === undefined && published === undefined
  const showRelated = asked ?? (isAlone ? 'none' : 'link')
  if (isAlone) return { ...listed, showRelated }
  return { ...listed, showRelated, related: { ...(draft && { draft }), ...(published && { published }) } }
}

function jobFrom(link: JobLink | undefined): Change['job'] {
  if (link?.jobType === undefined) return undefined
  return { type: link.jobType, id: decodeURIComponent(link.href.slice(link.href.lastIndexOf('/') + 1)) }
}

/** A job of a list, or one that was asked for, which tells more. */
function jobOf(wire: Wire): FunctionJob {
  const { type, id, state, operation, createdBy, createdAt, processedAt, finishedAt, attemptsMade, request, result } =
    wire as unknown as JobWire
  const { failedReason, parent } = (isPlainObject(wire['job']) ? wire['job'] : {}) as TechnicalWire
  return {
    type,
    operation,
    function: aboutOf(wire['function'] as FunctionWire),
    job: {
      id,
      state,
      user: createdBy,
      queueTime: Date.parse(createdAt),
      attemptsMade,
      ...(processedAt !== undefined && { processedTime: Date.parse(processedAt) }),
      ...(finishedAt !== undefined && { finishedTime: Date.parse(finishedAt) }),
      ...(request !== undefined && { data: request }),
      ...(result !== undefined && { result }),
      ...(failedReason !== undefined && { failedReason }),
      ...(parent !== undefined && { ancestors: [parent.id] }),
    },
  }
}

type FunctionWire = Omit<FunctionOfJob, 'functionType'> & { readonly functionType: string }

function aboutOf({ functionType, ...about }: FunctionWire): FunctionOfJob {
  const type = FUNCTION_TYPES.find((one) => TYPE_NAMES[one].wire === functionType)
  return { ...about, functionType: type ?? 'plugs' }
}

interface JobWire {
  readonly type: JobType
  readonly id: string
  readonly state: FunctionJob['job']['state']
  readonly operation: string
  readonly createdBy: string
  readonly createdAt: string
  readonly processedAt?: string
  readonly finishedAt?: string
  readonly attemptsMade: number
  readonly request?: object
  readonly result?: NonNullable<FunctionJob['job']['result']>
}
interface TechnicalWire {
  readonly failedReason?: string
  readonly parent?: { readonly id: string }
}

interface EventWire {
  readonly job: { readonly type: JobType; readonly id: string }
  readonly function: FunctionWire
  readonly timestamp: string
  readonly data: {
    readonly returnvalue?: NonNullable<FunctionJob['job']['result']>
    readonly failedReason?: string
    readonly delay?: number
    readonly data?: number
    readonly prev?: FunctionJob['job']['state']
  }
}

function eventFrom(event: FunctionJobEvent['event'], text: string): FunctionJobEvent {
  if (event === 'ack' || event === 'close') return { event, text }
  const { job, function: about, timestamp, data } = JSON.parse(text) as EventWire
  const { returnvalue, failedReason, delay, data: done, prev } = data
  return {
    event,
    type: job.type,
    id: job.id,
    function: aboutOf(about),
    time: Date.parse(timestamp),
    ...(prev !== undefined && { prev }),
    ...(returnvalue !== undefined && { result: returnvalue }),
    ...(failedReason !== undefined && { failedReason }),
    ...(delay !== undefined && { delay }),
    ...(done !== undefined && { progress: { done, total: 1 } }),
  }
}

function queryOf({
  createdBefore,
  createdAfter,
  updatedBefore,
  updatedAfter,
  ...rest
}: Omit<FunctionQuery, 'wql' | 'exactName'>) {
  return {
    ...rest,
    createdBefore: instantOf(createdBefore),
    createdAfter: instantOf(createdAfter),
    updatedBefore: instantOf(updatedBefore),
    updatedAfter: instantOf(updatedAfter),
  }
}

function instantOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString()
}

/** Slashes of the asset's path are those of the address. */
function assetPath(version: string, path: string): string {
  return `${version}/content/${path.split('/').map(encodeURIComponent).join('/')}`
}
