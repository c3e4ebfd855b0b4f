/** Formats functions and jobs as the original platform does, with links. */
import type { FastifyRequest } from 'fastify'
import { linkTo } from '#services/shared'
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

export function pageBody({ entities, count, limit, page }: FunctionPage, request: FastifyRequest): Wire {
  const tags = new Map(entities.flatMap(({ tags: embedded = [] }) => embedded.map((tag) => [tag.name, tag] as const)))
  return {
    entities: entities.map((one) => listedBody(one, request)),
    count,
    limit,
    ...(page !== undefined && { page }),
    ...(entities.some((one) => one.tags !== undefined) && { _embedded: { tags: [...tags.values()] } }),
  }
}

function listedBody({ related = {}, showRelated, ...one }: ListedFunction, request: FastifyRequest): Wire {
  const { draft, published } = related
  const links = { ...invoking(one, request), ...(showRelated === 'link' && relatedLinks(related, request)) }
  return {
    ...linked(one, links),
    ...(showRelated === 'embed' &&
      (draft ?? published) !== undefined && {
        _embedded: {
          ...(draft && { draft: linked(draft, invoking(draft, request)) }),
          ...(published && { published: linked(published, invoking(published, request)) }),
        },
      }),
  }
}

function linked({ record }: RelatedVersion, links: Wire): Wire {
  return { ...record, ...(Object.keys(links).length > 0 && { _links: links }) }
}

function invoking({ type, name, version, draft }: RelatedVersion, request: FastifyRequest): Wire {
  if (type !== 'webscripts') return {}
  const href = linkTo(request, `/api/v1/${encodeURIComponent(request.tenant)}/${name}`)
  // without the header, a published version is called
  return { invoke: { href, ...(draft && { headers: { 'x-webscript-version': version } }) } }
}

function relatedLinks({ draft, published }: RelatedVersions, request: FastifyRequest): Wire {
  return {
    ...(draft && { draft: versionLink(draft, request) }),
    ...(published && { published: versionLink(published, request) }),
  }
}

export function singleBody(one: SingleFunction, request: FastifyRequest): Wire {
  const { record, related, job } = one
  return {
    entity: record,
    _links: {
      ...invoking(one, request),
      ...(job && jobLinks(job, request)),
      jobs: { href: `${versionHref(one, request)}/jobs` },
      content: { href: `${versionHref(one, request)}/content` },
      ...relatedLinks(related, request),
    },
    ...embeddedTags(one),
  }
}

export function changeBody({ message, entity, causes, job }: Omit<Change, 'isDone'>, request: FastifyRequest): Wire {
  return {
    message,
    ...(causes && { causes }),
    entity: entity.record,
    ...(job && { _links: jobLinks(job, request) }),
    ...embeddedTags(entity),
  }
}

function embeddedTags({ tags }: FunctionVersion): Wire {
  return tags === undefined ? {} : { _embedded: { tags } }
}

export function removalBody({ message, versions, job }: Removal, request: FastifyRequest): Wire {
  return { message, versions, ...(job && { _links: jobLinks(job, request) }) }
}

export function assetsBody(version: FunctionId, assets: readonly AssetInfo[], request: FastifyRequest): Wire {
  return {
    assets: assets.map(({ path, size, role }) => ({
      name: path,
      size,
      role,
      _links: { asset: { href: `${versionHref(version, request)}/content/${path}` } },
    })),
  }
}

export function jobBody({ type, job, function: about, operation }: FunctionJob, request: FastifyRequest): Wire {
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
    _links: { ...jobLinks({ type, id }, request), ...ofFunction(about, request) },
  }
}

export function jobDetailBody(found: FunctionJob, request: FastifyRequest): Wire {
  const { id: _id, _links: _own, ...job } = jobReportBody(found, request)
  const { event } = jobLinks({ type: found.type, id: found.job.id }, request)
  return { job, _links: { event, ...ofFunction(found.function, request) } }
}

export function jobReportBody(found: FunctionJob, request: FastifyRequest): Wire {
  const { job, type } = found
  return {
    ...jobBody(found, request),
    request: requestOf(found, request),
    result: job.result,
    job: technical(job, type),
  }
}

function requestOf({ type, function: about, job }: FunctionJob, request: FastifyRequest): Wire {
  const data = (job.data ?? {}) as Wire
  if (about === undefined) return type === 'batch' ? batchRequest(data) : data
  const { functionType, name, version, runtime: runtimeName, runtimeVersion } = about
  const endpoint = `${functionType}/${name}@${version}`
  const revision = typeof data['revision'] === 'string' ? data['revision'] : ''
  const imageName = `${functionType}/${name}:${version}-${revision.slice(0, 8)}`
  const storageLocation = `${versionHref({ type: functionType, name, version }, request)}/content`
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

export function eventText(event: FunctionJobEvent, request: FastifyRequest): string {
  if ('text' in event) return frame(event.event, event.text)
  const { event: name, type, id, function: about, time, prev, result, failedReason, delay, progress } = event
  const done = name === 'progress' ? progress?.done : undefined
  const body = {
    job: { type, id },
    function: about && aboutBody(about),
    timestamp: isoOf(time),
    data: { returnvalue: result, failedReason, delay, data: done, prev },
    _links: { job: { href: jobHref({ type, id }, request) }, ...ofFunction(about, request) },
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

function ofFunction(about: FunctionOfJob | undefined, request: FastifyRequest): Wire {
  if (about === undefined) return {}
  const { functionType: type, name, version } = about
  return { [TYPE_NAMES[type].noun]: { href: versionHref({ type, name, version }, request) } }
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

function jobLinks({ type, id }: JobLink, request: FastifyRequest): Wire {
  return {
    event: { href: linkTo(request, `${PREFIX}/jobs/events?type=${type}&id=${encodeURIComponent(id)}&children=true`) },
    job: { href: jobHref({ type, id }, request), jobType: type },
  }
}

function jobHref({ type, id }: JobLink, request: FastifyRequest): string {
  return linkTo(request, `${PREFIX}/jobs/${type}/${encodeURIComponent(id)}`)
}

function versionLink(found: RelatedVersion, request: FastifyRequest): Wire {
  const { version, draft, deprecated } = found
  return { href: versionHref(found, request), version, draft, deprecated }
}

export function versionHref({ type, name, version }: FunctionId, request: FastifyRequest): string {
  return linkTo(request, `${PREFIX}/${type}/${name}/versions/${version}`)
}

function isoOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString()
}
