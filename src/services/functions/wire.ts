/** Formats functions and jobs as the original platform does, with links. */
import type {
  AssetInfo,
  Change,
  FunctionJob,
  FunctionJobEvent,
  FunctionOfJob,
  FunctionPage,
  FunctionType,
  FunctionVersion,
  JobLink,
  ListedFunction,
  RelatedVersions,
  RelatedVersion,
  Removal,
  SingleFunction,
} from './contract.ts'
import type { JobType } from './function-schema.ts'
import type { FunctionId } from './function-record.ts'
import { TYPE_NAMES } from './function-type.ts'

export const PREFIX = '/registry/v2'

type Wire = Readonly<Record<string, unknown>>

export function pageBody({ entities, count, limit, page }: FunctionPage, tenant: string): Wire {
  const tags = new Map(entities.flatMap(({ tags: embedded = [] }) => embedded.map((tag) => [tag.name, tag] as const)))
  return {
    entities: entities.map((one) => listedBody(one, tenant)),
    count,
    limit,
    ...(page !== undefined && { page }),
    ...(entities.some((one) => one.tags !== undefined) && { _embedded: { tags: [...tags.values()] } }),
  }
}

function listedBody({ related = {}, showRelated, ...one }: ListedFunction, tenant: string): Wire {
  const { draft, published } = related
  const links = { ...invoking(one, tenant), ...(showRelated === 'link' && relatedLinks(related)) }
  return {
    ...linked(one, links),
    ...(showRelated === 'embed' &&
      (draft ?? published) !== undefined && {
        _embedded: {
          ...(draft && { draft: linked(draft, invoking(draft, tenant)) }),
          ...(published && { published: linked(published, invoking(published, tenant)) }),
        },
      }),
  }
}

function linked({ record }: RelatedVersion, links: Wire): Wire {
  return { ...record, ...(Object.keys(links).length > 0 && { _links: links }) }
}

function invoking({ type, name }: RelatedVersion, tenant: string): Wire {
  return type === 'webscripts' ? { invoke: { href: `/api/v1/${encodeURIComponent(tenant)}/${name}` } } : {}
}

function relatedLinks({ draft, published }: RelatedVersions): Wire {
  return { ...(draft && { draft: versionLink(draft) }), ...(published && { published: versionLink(published) }) }
}

export function singleBody(one: SingleFunction, tenant: string): Wire {
  const { record, related, job } = one
  return {
    entity: record,
    _links: {
      ...invoking(one, tenant),
      ...(job && jobLinks(job)),
      jobs: { href: `${versionHref(one)}/jobs` },
      content: { href: `${versionHref(one)}/content` },
      ...relatedLinks(related),
    },
    ...embeddedTags(one),
  }
}

export function changeBody({ message, entity, causes, job }: Omit<Change, 'isDone'>): Wire {
  return {
    message,
    ...(causes && { causes }),
    entity: entity.record,
    ...(job && { _links: jobLinks(job) }),
    ...embeddedTags(entity),
  }
}

function embeddedTags({ tags }: FunctionVersion): Wire {
  return tags === undefined ? {} : { _embedded: { tags } }
}

export function removalBody({ message, versions, job }: Removal): Wire {
  return { message, versions, ...(job && { _links: jobLinks(job) }) }
}

export function assetsBody(version: FunctionId, assets: readonly AssetInfo[]): Wire {
  return {
    assets: assets.map(({ path, size, role }) => ({
      name: path,
      size,
      role,
      _links: { asset: { href: `${versionHref(version)}/content/${path}` } },
    })),
  }
}

export function jobBody({ type, job, function: about, operation }: FunctionJob): Wire {
  const { id, state, user, queueTime, processedTime, finishedTime, attemptsMade, failedReason } = job
  return {
    type,
    id,
    state,
    operation,
    createdBy: user ?? 'system',
    createdAt: isoOf(queueTime),
    processedAt: isoOf(processedTime),
    finishedAt: isoOf(finishedTime),
    attemptsMade,
    failureReason: failedReason,
    function: about && aboutBody(about),
    _links: { ...jobLinks({ type, id }), ...ofFunction(about) },
  }
}

export function jobDetailBody(found: FunctionJob): Wire {
  const { id: _id, _links: _own, ...job } = jobReportBody(found)
  const { event } = jobLinks({ type: found.type, id: found.job.id })
  return { job, _links: { event, ...ofFunction(found.function) } }
}

export function jobReportBody(found: FunctionJob): Wire {
  const { job, type } = found
  return { ...jobBody(found), request: requestOf(found), result: job.result, job: technical(job, type) }
}

function requestOf({ type, function: about, job }: FunctionJob): Wire {
  const data = (job.data ?? {}) as Wire
  if (about === undefined) return type === 'batch' ? batchRequest(data) : data
  const { functionType, name, version, runtime: runtimeName, runtimeVersion } = about
  const endpoint = `${functionType}/${name}@${version}`
  const revision = typeof data['revision'] === 'string' ? data['revision'] : ''
  const imageName = `${functionType}/${name}:${version}-${revision.slice(0, 8)}`
  const storageLocation = `${versionHref({ type: functionType, name, version })}/content`
  const deployed = { namespace: TYPE_NAMES[functionType].wire, endpoint, runtimeName, runtimeVersion, revision }
  switch (type) {
    case 'build':
      return { storageLocation, imageName, runtimeName, runtimeVersion, revision, args: {} }
    case 'deploy':
      return { ...deployed, imageName, deploySpecOverrides: {} }
    case 'verify':
      return deployed
    case 'scale':
      return { ...deployed, replicas: 0 }
    case 'undeploy': {
      const { then } = data
      const isGone = then === 'remove'
      return {
        ...deployed,
        storageLocation,
        imageName,
        deleteEntity: isGone,
        resetEntity: then === 'reset',
        deleteImage: true,
      }
    }
    case 'batch':
    case 'cleanup':
    case 'notify':
      return { operation: data['operation'] }
  }
}

function batchRequest({ name, functionType, childType, ...rest }: Wire): Wire {
  if (functionType === undefined) return rest
  return { plugName: name, functionType: TYPE_NAMES[functionType as FunctionType].wire, childType }
}

export function eventText(event: FunctionJobEvent): string {
  if ('text' in event) return frame(event.event, event.text)
  const { event: name, type, id, function: about, time, prev, result, failedReason, delay, progress } = event
  const done = name === 'progress' ? progress?.done : undefined
  const body = {
    job: { type, id },
    function: about && aboutBody(about),
    timestamp: isoOf(time),
    data: { returnvalue: result, failedReason, delay, data: done, prev },
    _links: { job: { href: jobHref({ type, id }) }, ...ofFunction(about) },
  }
  return frame(name, JSON.stringify(body))
}

export const KEEP_ALIVE = frame('keep-alive', '{}')

function frame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`
}

function aboutBody({ functionType, ...about }: FunctionOfJob): Wire {
  return { functionType: TYPE_NAMES[functionType].wire, ...about }
}

function ofFunction(about: FunctionOfJob | undefined): Wire {
  if (about === undefined) return {}
  const { functionType: type, name, version } = about
  return { [TYPE_NAMES[type].noun]: { href: versionHref({ type, name, version }) } }
}

function technical(job: FunctionJob['job'], type: JobType): Wire {
  const { id, progress, attemptsMade, finishedTime, processedTime, failedReason, ancestors } = job
  const parent = ancestors?.at(-1)
  return {
    id,
    name: type,
    progress: progress?.done ?? 0,
    attemptsMade,
    finishedOn: finishedTime,
    processedOn: processedTime,
    failedReason,
    parent: parent === undefined ? undefined : { id: parent },
  }
}

function jobLinks({ type, id }: JobLink): Wire {
  return {
    event: { href: `${PREFIX}/jobs/events?type=${type}&id=${encodeURIComponent(id)}&children=true` },
    job: { href: jobHref({ type, id }), jobType: type },
  }
}

function jobHref({ type, id }: JobLink): string {
  return `${PREFIX}/jobs/${type}/${encodeURIComponent(id)}`
}

function versionLink(found: RelatedVersion): Wire {
  const { version, draft, deprecated } = found
  return { href: versionHref(found), version, draft, deprecated }
}

export function versionHref({ type, name, version }: FunctionId): string {
  return `${PREFIX}/${type}/${name}/versions/${version}`
}

function isoOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString()
}
