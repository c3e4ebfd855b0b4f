/** The functions service over fetch: the same contract, for the command line and for other processes. */
import { AppError, isPlainObject } from '#kernel'
import { type Ask, type Http, type Method, pathOf, tarOf, textEvents, typed } from '#services/shared/client'
import type {
  AssetInfo,
  Causes,
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
  SingleFunction,
  Tag,
  TagScope,
} from './contract.ts'
import { FUNCTION_TYPES, TYPE_NAMES } from './function-type.ts'

const JOBS = '/registry/v2/jobs'
const TAGS = '/registry/v2/tags'

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
interface JobHref {
  readonly href: string
  readonly jobType?: JobType
}
interface Tagged {
  readonly _embedded?: { readonly tags?: readonly Tag[] }
}
interface SingleWire extends Tagged {
  readonly entity: Entity
  readonly _links?: { readonly draft?: Link; readonly published?: Link; readonly job?: JobHref }
}
interface ChangeWire extends Tagged {
  readonly message: string
  readonly entity: Entity
  readonly causes?: Causes
  readonly _links?: { readonly job?: JobHref }
}
interface RemovalWire {
  readonly message: string
  readonly versions: readonly string[]
  readonly _links?: { readonly job?: JobHref }
}
interface AssetWire {
  readonly name: string
  readonly size: number
  readonly role: AssetInfo['role']
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
  const ofName = (name: string, version?: string): string =>
    all + (version === undefined ? pathOf`/${name}` : pathOf`/${name}/versions/${version}`)
  const single = async (method: Method, path: string, ask: Ask = {}): Promise<SingleFunction> => {
    return singleFrom(type, await typed<SingleWire>(http.json(method, path, ask)))
  }
  const change = async (method: Method, path: string, ask: Ask): Promise<Change> => {
    const {
      message,
      entity,
      causes,
      _links: links,
      _embedded: embedded,
    } = await typed<ChangeWire>(http.json(method, path, ask))
    const job = jobFrom(links?.job)
    return {
      message,
      entity: { ...versionOfType(type, entity), ...embedded },
      isDone: job === undefined,
      ...(causes && { causes }),
      ...(job && { job }),
    }
  }
  const removal = async (method: Method, path: string, ask: Ask): Promise<Removal> => {
    const { message, versions, _links: links } = await typed<RemovalWire>(http.json(method, path, ask))
    const job = jobFrom(links?.job)
    return { message, versions, ...(job && { job }) }
  }
  const bytes = async (path: string): Promise<Uint8Array> => {
    return new Uint8Array(await (await http.open('GET', path)).arrayBuffer())
  }
  const tags = async (method: Method, path: string, ask: Ask = {}): Promise<readonly Tag[]> => {
    return (await typed<{ readonly tags: readonly Tag[] }>(http.json(method, path, ask))).tags
  }
  return {
    create: (assets, { manifest, ...options } = {}) => {
      const body = manifest === undefined ? upload(assets) : { body: manifest }
      if (manifest !== undefined && assets.size > 0)
        throw new AppError('VALIDATION', 'assets and a manifest beside them cannot be sent at once: put it among them')
      return change('POST', all, { ...body, query: { ...options } })
    },
    list: async ({ exactName, ...query }) => {
      const path = exactName === undefined ? all : `${ofName(exactName)}/versions`
      return pageFrom(type, await typed(http.json('GET', path, { query: queryOf(query) })), query)
    },
    latest: (name, query = {}) => single('GET', ofName(name), { query: { ...query } }),
    get: (name, version, query = {}) => single('GET', ofName(name, version), { query: { ...query } }),
    content: (name, version) => bytes(`${ofName(name, version)}/content`),
    assets: async (name, version, prefix = '') => {
      const path = prefix === '' ? `${ofName(name, version)}/content` : assetPath(ofName(name, version), prefix)
      const { assets } = await typed<{ assets: readonly AssetWire[] }>(http.json('GET', `${path}?ls=true`))
      return assets.map((one) => ({ path: one.name, size: one.size, role: one.role }))
    },
    asset: (name, version, path) => bytes(assetPath(ofName(name, version), path)),
    pathOf: async (name, version, role) => {
      const { assets } = await typed<{ assets: readonly AssetWire[] }>(
        http.json('GET', `${ofName(name, version)}/${role}?ls=true`),
      )
      const found = assets.find((one) => one.role === role)
      if (found === undefined) throw new AppError('NOT_FOUND', `'${name}@${version}' has no asset that is its ${role}`)
      return found.name
    },
    putAssets: (name, version, assets, options = {}) => {
      return change('PUT', `${ofName(name, version)}/content`, { ...upload(assets), query: { ...options } })
    },
    removeAsset: (name, version, path, options = {}) => {
      return change('DELETE', assetPath(ofName(name, version), path), { query: { ...options } })
    },
    patchManifest: (name, version, body, options = {}) => {
      return change('PATCH', `${ofName(name, version)}/manifest`, { body, query: { ...options } })
    },
    patchMetadata: (name, version, body, options = {}) => {
      return single('PATCH', `${ofName(name, version)}/metadata`, { body, query: { ...options } })
    },
    patchDocumentation: (name, version, body, options = {}) => {
      return single('PATCH', `${ofName(name, version)}/interface`, { body, query: { ...options } })
    },
    protect: async (name, version, options = {}) => {
      const path = `${ofName(name, version)}/protect`
      if (version === undefined) return removal('POST', path, { query: { ...options } })
      await single('POST', path, { query: { ...options } })
      const { enable = true } = options
      const message = `${enable ? 'Protected' : 'Unprotected'} ${TYPE_NAMES[type].noun} '${name}@${version}'`
      return { message, versions: [version] }
    },
    publish: (name, version, options = {}) => {
      return change('POST', `${ofName(name, version)}/publish`, { query: { ...options } })
    },
    rebuild: (name, version, { overrides, ...options } = {}) => {
      const body = overrides === undefined ? {} : { body: { deploy: overrides } }
      return change('POST', `${ofName(name, version)}/rebuild`, { ...body, query: { ...options } })
    },
    verify: (name, version, options = {}) => {
      return change('POST', `${ofName(name, version)}/verify`, { query: { ...options } })
    },
    remove: (name, version, options = {}) => removal('DELETE', ofName(name, version), { query: { ...options } }),
    tags: (name, version, scope) => tags('GET', `${ofName(name, version)}/tags`, { query: scopeOf(version, scope) }),
    changeTags: async (name, version, asked, scope) => {
      const path = `${ofName(name, version)}/tags`
      if (asked.kind === 'remove') {
        await http.json('DELETE', asked.name === undefined ? path : path + pathOf`/${asked.name}`)
        return tags('GET', path, { query: scopeOf(version, scope) })
      }
      await http.json(asked.kind === 'set' ? 'PUT' : 'PATCH', path, { body: { tags: asked.tags } })
      return tags('GET', path, { query: scopeOf(version, scope) })
    },
    log: async (name, version) => {
      const answer = http.json('GET', `${ofName(name, version)}/log`)
      const { lines } = await typed<{ lines: { time: string; level: string; text: string }[] }>(answer)
      return lines.map((line) => ({ ...line, time: Date.parse(line.time) }))
    },
    jobs: jobsClient(http, type),
    allTags: {
      list: (query) => tags('GET', TAGS, { query: { ...query } }),
      get: async (name) => (await typed<{ readonly tag: Tag }>(http.json('GET', TAGS + pathOf`/${name}`))).tag,
      dropUnused: () => tags('DELETE', TAGS),
    },
  }
}

function upload(assets: ReadonlyMap<string, Uint8Array>): Pick<Ask, 'body' | 'headers'> {
  if (assets.size === 0) return {}
  return { body: tarOf(assets), headers: { 'content-type': 'application/x-tar' } }
}

/** Of one version there is no scope. */
function scopeOf(version: string | undefined, scope: TagScope | undefined): NonNullable<Ask['query']> {
  return version === undefined ? { scope } : {}
}

function singleFrom(
  type: FunctionType,
  { entity, _links: links = {}, _embedded: embedded }: SingleWire,
): SingleFunction {
  const one = versionOfType(type, entity)
  const [draft, published] = [linked(one, links.draft), linked(one, links.published)]
  const job = jobFrom(links.job)
  return {
    ...one,
    ...embedded,
    related: { ...(draft && { draft }), ...(published && { published }) },
    ...(job && { job }),
  }
}

function linked({ type, name }: FunctionVersion, link: Link | undefined): RelatedVersion | undefined {
  if (link === undefined) return undefined
  const { version, draft, deprecated } = link
  return { type, name, version, draft, deprecated }
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
    return linked(listed, link)
  }
  const [draft, published] = [related('draft'), related('published')]
  const isAlone = draft === undefined && published === undefined
  const showRelated = asked ?? (isAlone ? 'none' : 'link')
  if (isAlone) return { ...listed, showRelated }
  return { ...listed, showRelated, related: { ...(draft && { draft }), ...(published && { published }) } }
}

function jobFrom(link: JobHref | undefined): Change['job'] {
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
    ...(wire['function'] !== undefined && { function: aboutOf(wire['function'] as FunctionWire) }),
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
  readonly function?: FunctionWire
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
    ...(about && { function: aboutOf(about) }),
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
}: Omit<FunctionQuery, 'exactName'>) {
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
