/** Typed client of the function registry. */
import { AppError } from '#kernel'
import { type Ask, type Http, type Method, pathOf, tarOf, textEvents, typed } from '#services/shared/client'
import type {
  AssetInfo,
  Change,
  FunctionJob,
  FunctionJobEvent,
  FunctionOfJob,
  FunctionPage,
  FunctionsApi,
  FunctionType,
  FunctionVersion,
  JobsApi,
  ListedFunction,
  RelatedVersion,
  RelatedVersions,
  Removal,
  SingleFunction,
  Tag,
} from './contract.ts'
import type {
  ChangeAnswer,
  FunctionAnswer,
  FunctionQuery,
  JobAnswer,
  JobType,
  RemovalAnswer,
  SingleAnswer,
  TagScope,
} from './function-schema.ts'
import { FUNCTION_TYPES, TYPE_NAMES } from './function-type.ts'

const JOBS = '/registry/v2/jobs'
const TAGS = '/registry/v2/tags'

type Links = SingleAnswer['_links']
type JobHref = NonNullable<Links>['job']
interface AssetsAnswer {
  readonly assets: readonly (Omit<AssetInfo, 'path'> & { readonly name: string })[]
}

export type FunctionsClient = Readonly<Record<FunctionType, FunctionsApi>>

/** Errors are AppErrors, as precisely as the HTTP responses allow; responses are not validated again. */
export function functionsClient(http: Http): FunctionsClient {
  return { plugs: clientOf(http, 'plugs'), webscripts: clientOf(http, 'webscripts'), models: clientOf(http, 'models') }
}

function clientOf(http: Http, type: FunctionType): FunctionsApi {
  const all = pathOf`/registry/v2/${type}`
  const ofName = (name: string, version?: string): string =>
    all + (version === undefined ? pathOf`/${name}` : pathOf`/${name}/versions/${version}`)
  const single = async (method: Method, path: string, ask: Ask): Promise<SingleFunction> => {
    const { entity, _links: links, _embedded: tags } = await typed<SingleAnswer>(http.json(method, path, ask))
    const one = versionOf(type, entity)
    return { ...one, ...tagsIn(tags), related: relatedIn(one, links), ...jobIn(links) }
  }
  const change = async (method: Method, path: string, ask: Ask): Promise<Change> => {
    const answer = await typed<ChangeAnswer>(http.json(method, path, ask))
    const { message, entity, causes, _links: links, _embedded: tags } = answer
    const job = jobIn(links)
    const isDone = job.job === undefined
    return {
      message,
      entity: { ...versionOf(type, entity), ...tagsIn(tags) },
      isDone,
      ...(causes && { causes }),
      ...job,
    }
  }
  const removal = async (method: Method, path: string, ask: Ask): Promise<Removal> => {
    const { _links: links, ...done } = await typed<RemovalAnswer>(http.json(method, path, ask))
    return { ...done, ...jobIn(links) }
  }
  const bytes = async (path: string): Promise<Uint8Array> =>
    new Uint8Array(await (await http.open('GET', path)).arrayBuffer())
  const files = async (path: string): Promise<readonly AssetInfo[]> => {
    const { assets } = await typed<AssetsAnswer>(http.json('GET', path, { query: { ls: true } }))
    return assets.map(({ name, size, role }) => ({ path: name, size, role }))
  }
  const tags = async (method: Method, path: string, ask: Ask = {}): Promise<readonly Tag[]> =>
    (await typed<{ readonly tags: readonly Tag[] }>(http.json(method, path, ask))).tags
  return {
    create: (assets, { manifest, ...query } = {}) => {
      const body = manifest === undefined ? upload(assets) : { body: manifest }
      if (manifest !== undefined && assets.size > 0)
        throw new AppError(
          'VALIDATION',
          'assets and a separate manifest cannot be sent together: add the manifest to the assets',
        )
      return change('POST', all, { ...body, query })
    },
    list: async ({ exactName, ...query }) => {
      const path = exactName === undefined ? all : `${ofName(exactName)}/versions`
      const page = await typed<Omit<FunctionPage, 'entities'> & { readonly entities: readonly FunctionAnswer[] }>(
        http.json('GET', path, { query: withInstants(query) }),
      )
      return { ...page, entities: page.entities.map((one) => listedOf(type, one, query.showRelated)) }
    },
    latest: (name, query = {}) => single('GET', ofName(name), { query: { ...query } }),
    get: (name, version, query = {}) => single('GET', ofName(name, version), { query: { ...query } }),
    content: (name, version) => bytes(`${ofName(name, version)}/content`),
    assets: (name, version, prefix = '') =>
      files(prefix === '' ? `${ofName(name, version)}/content` : assetPath(ofName(name, version), prefix)),
    asset: (name, version, path) => bytes(assetPath(ofName(name, version), path)),
    pathOf: async (name, version, role) => {
      const found = (await files(`${ofName(name, version)}/${role}`)).find((one) => one.role === role)
      if (found === undefined) throw new AppError('NOT_FOUND', `'${name}@${version}' lacks the ${role} asset`)
      return found.path
    },
    putAssets: (name, version, assets, query = {}) =>
      change('PUT', `${ofName(name, version)}/content`, { ...upload(assets), query: { ...query } }),
    removeAsset: (name, version, path, query = {}) =>
      change('DELETE', assetPath(ofName(name, version), path), { query: { ...query } }),
    patchManifest: (name, version, body, query = {}) =>
      change('PATCH', `${ofName(name, version)}/manifest`, { body, query: { ...query } }),
    patchMetadata: (name, version, body, query = {}) =>
      single('PATCH', `${ofName(name, version)}/metadata`, { body, query: { ...query } }),
    patchDocumentation: (name, version, body, query = {}) =>
      single('PATCH', `${ofName(name, version)}/interface`, { body, query: { ...query } }),
    protect: async (name, version, options = {}) => {
      const path = `${ofName(name, version)}/protect`
      const ask = { query: { ...options } }
      if (version === undefined) return removal('POST', path, ask)
      await single('POST', path, ask)
      const doing = options.enable === false ? 'Unprotected' : 'Protected'
      return { message: `${doing} ${TYPE_NAMES[type].noun} '${name}@${version}'`, versions: [version] }
    },
    publish: (name, version, query = {}) => change('POST', `${ofName(name, version)}/publish`, { query: { ...query } }),
    rebuild: (name, version, { overrides: deploy, ...query } = {}) =>
      change('POST', `${ofName(name, version)}/rebuild`, { ...(deploy && { body: { deploy } }), query }),
    verify: (name, version, query = {}) => change('POST', `${ofName(name, version)}/verify`, { query: { ...query } }),
    remove: (name, version, query = {}) => removal('DELETE', ofName(name, version), { query: { ...query } }),
    tags: (name, version, scope) => tags('GET', `${ofName(name, version)}/tags`, { query: scopeOf(version, scope) }),
    changeTags: async (name, version, tagChange, scope) => {
      const path = `${ofName(name, version)}/tags`
      if (tagChange.kind === 'remove')
        await http.json('DELETE', tagChange.name === undefined ? path : path + pathOf`/${tagChange.name}`)
      else await http.json(tagChange.kind === 'set' ? 'PUT' : 'PATCH', path, { body: { tags: tagChange.tags } })
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

function scopeOf(version: string | undefined, scope: TagScope | undefined): NonNullable<Ask['query']> {
  return version === undefined ? { scope } : {}
}

function assetPath(version: string, path: string): string {
  return `${version}/content/${path.split('/').map(encodeURIComponent).join('/')}`
}

/** Formats times as ISO 8601, since the server reads small numbers as ages. */
function withInstants(query: NonNullable<Ask['query']>): NonNullable<Ask['query']> {
  const isTime = (name: string): boolean => /^(?:created|updated)(?:Before|After)$/.test(name)
  const shown = Object.entries(query).map(([name, value]) => [
    name,
    typeof value === 'number' && isTime(name) ? new Date(value).toISOString() : value,
  ])
  return Object.fromEntries(shown) as NonNullable<Ask['query']>
}

function versionOf(type: FunctionType, entity: FunctionAnswer): FunctionVersion {
  const { status, draft, deprecated } = entity
  const { name = '', version = '' } = entity[TYPE_NAMES[type].noun] ?? {}
  return { type, name, version, status, draft, deprecated, record: { ...entity } }
}

function tagsIn(embedded: SingleAnswer['_embedded']): Pick<FunctionVersion, 'tags'> {
  // the schema also covers tags in requests, which may be just names
  return embedded === undefined ? {} : { tags: embedded.tags as readonly Tag[] }
}

function relatedIn(one: FunctionVersion, links: Links, whole: FunctionAnswer['_embedded'] = {}): RelatedVersions {
  const { type, name } = one
  const related = (role: 'draft' | 'published'): RelatedVersion | undefined => {
    const embedded = whole[role]
    if (embedded !== undefined) return versionOf(type, embedded)
    const link = links?.[role]
    return link && { type, name, version: link.version, draft: link.draft, deprecated: link.deprecated }
  }
  const [draft, published] = [related('draft'), related('published')]
  return { ...(draft && { draft }), ...(published && { published }) }
}

function listedOf(
  type: FunctionType,
  { _links: links, _embedded: embedded, ...entity }: FunctionAnswer,
  showRelated: FunctionQuery['showRelated'],
): ListedFunction {
  const listed = versionOf(type, entity)
  const related = relatedIn(listed, links, embedded)
  const isAlone = Object.keys(related).length === 0
  return { ...listed, showRelated: showRelated ?? (isAlone ? 'none' : 'link'), ...(!isAlone && { related }) }
}

function jobIn(links: Links): Pick<Change, 'job'> {
  const { href, jobType }: Partial<NonNullable<JobHref>> = links?.job ?? {}
  if (href === undefined || jobType === undefined) return {}
  return { job: { type: jobType, id: decodeURIComponent(href.slice(href.lastIndexOf('/') + 1)) } }
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
      const { job } = await typed<{ job: Omit<JobAnswer, 'id'> }>(http.json('GET', JOBS + pathOf`/${type}/${id}`))
      return jobOf({ ...job, id })
    },
    list: async ({ name, version, types: type, states: state, functionTypes, ...query }) => {
      if (name !== undefined && version === undefined)
        throw new AppError('VALIDATION', 'jobs belong to a version of a function; add `version` to `name`')
      const path =
        name === undefined ? JOBS : pathOf`/registry/v2/${functionType}/${name}/versions/${version ?? ''}/jobs`
      const parameters = withInstants({ ...query, type, state, functionType: functionTypes })
      const { jobs } = await typed<{ jobs: JobAnswer[] }>(http.json('GET', path, { query: parameters }))
      return jobs.map(jobOf)
    },
    finished: async (id) => {
      const over = new AbortController()
      for await (const { event } of events({ id, signal: over.signal })) if (event === 'close') return
    },
  }
}

function jobOf({
  type,
  id,
  state,
  operation,
  job,
  request,
  result,
  function: about,
  ...answer
}: JobAnswer): FunctionJob {
  const { createdBy: user, createdAt, processedAt, finishedAt, attemptsMade } = answer
  const { failedReason, parent } = job ?? {}
  return {
    type,
    operation,
    ...(about && { function: aboutOf(about) }),
    job: {
      id,
      state,
      user,
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

function aboutOf({ functionType, ...about }: NonNullable<JobAnswer['function']>): FunctionOfJob {
  const type = FUNCTION_TYPES.find((one) => TYPE_NAMES[one].wire === functionType)
  return { ...about, functionType: type ?? 'plugs' }
}

interface EventAnswer {
  readonly job: { readonly type: JobType; readonly id: string }
  readonly function?: NonNullable<JobAnswer['function']>
  readonly timestamp: string
  readonly data: Pick<Extract<FunctionJobEvent, { id: string }>, 'failedReason' | 'delay' | 'prev'> & {
    readonly returnvalue?: NonNullable<JobAnswer['result']>
    readonly data?: number
  }
}

function eventFrom(event: FunctionJobEvent['event'], text: string): FunctionJobEvent {
  if (event === 'ack' || event === 'close') return { event, text }
  const { job, function: about, timestamp, data } = JSON.parse(text) as EventAnswer
  const { returnvalue: result, data: done, ...rest } = data
  return {
    event,
    ...job,
    ...(about && { function: aboutOf(about) }),
    time: Date.parse(timestamp),
    ...rest,
    ...(result !== undefined && { result }),
    ...(done !== undefined && { progress: { done, total: 1 } }),
  }
}
