/** Functions and their jobs as the registry's clients know them: wrapped, and linked to each other. */
import type {
  AssetInfo,
  Change,
  FunctionJob,
  FunctionJobEvent,
  FunctionOfJob,
  FunctionPage,
  FunctionVersion,
  JobType,
  ListedFunction,
  RelatedVersion,
  Removal,
} from '../contract.ts'
import type { FunctionId } from '../function-record.ts'
import { TYPE_NAMES } from '../function-type.ts'

export const PREFIX = '/registry/v2'

type Wire = Readonly<Record<string, unknown>>

export function pageBody({ entities, count, limit, page }: FunctionPage): Wire {
  return { entities: entities.map(listedBody), count, limit, ...(page !== undefined && { page }) }
}

function listedBody({ record, related = {}, showRelated }: ListedFunction): Wire {
  const { draft, published } = related
  if (showRelated === 'none' || (draft === undefined && published === undefined)) return record
  if (showRelated === 'embed') {
    return {
      ...record,
      _embedded: { ...(draft && { draft: draft.record }), ...(published && { published: published.record }) },
    }
  }
  return {
    ...record,
    _links: { ...(draft && { draft: versionLink(draft) }), ...(published && { published: versionLink(published) }) },
  }
}

export function singleBody(version: FunctionVersion): Wire {
  const { record } = version
  const { jobs = [] } = (record['updates'] as readonly { readonly jobs?: readonly string[] }[])[0] ?? {}
  const [id] = jobs
  const isOpen = version.status === 'pending' || version.status === 'undeploying'
  const type: JobType = version.status === 'undeploying' ? 'undeploy' : 'verify'
  return {
    entity: record,
    _links: {
      jobs: { href: `${pathOf(version)}/jobs` },
      content: { href: `${pathOf(version)}/content` },
      ...(isOpen && id !== undefined && jobLinks(type, id)),
    },
  }
}

/** 202 with the way to its jobs, or 201 when there is none to wait for. */
export function changeBody({ message, entity, job }: Change): Wire {
  return { message, entity: entity.record, ...(job && { _links: jobLinks(job.type, job.id) }) }
}

export function removalBody({ message, versions, job }: Removal): Wire {
  return { message, versions, ...(job && { _links: jobLinks(job.type, job.id) }) }
}

export function assetsBody(version: FunctionId, assets: readonly AssetInfo[]): Wire {
  return {
    assets: assets.map(({ path, size }) => ({
      name: path,
      size,
      _links: { asset: { href: `${pathOf(version)}/content/${path}` } },
    })),
  }
}

/** An item of a list of jobs. */
export function jobBody({ type, job, function: about, operation }: FunctionJob): Wire {
  const { id, state, user, queueTime, processedTime, finishedTime, attemptsMade } = job
  return {
    type,
    id,
    state,
    operation,
    createdBy: user ?? 'system',
    createdAt: isoOf(queueTime),
    ...(processedTime !== undefined && { processedAt: isoOf(processedTime) }),
    ...(finishedTime !== undefined && { finishedAt: isoOf(finishedTime) }),
    attemptsMade,
    function: aboutBody(about),
    _links: { ...jobLinks(type, id), ...ofFunction(about) },
  }
}

export function jobDetailBody(found: FunctionJob): Wire {
  const { id: _id, _links: links, ...summary } = jobBody(found)
  const { job, type } = found
  return {
    job: {
      ...summary,
      request: job.data,
      ...(job.result !== undefined && { result: job.result }),
      job: technical(job, type),
    },
    _links: links,
  }
}

export function eventText(event: FunctionJobEvent): string {
  if ('text' in event) return frame(event.event, event.text)
  const { event: name, type, id, function: about, time, prev, result, failedReason, delay, progress } = event
  const data = {
    ...(result !== undefined && { returnvalue: result }),
    ...(failedReason !== undefined && { failedReason }),
    ...(delay !== undefined && { delay }),
    ...(progress !== undefined && name === 'progress' && { data: progress.done }),
    ...(prev !== undefined && { prev }),
  }
  const body = {
    job: { type, id },
    function: aboutBody(about),
    timestamp: isoOf(time),
    data,
    _links: { job: { href: jobPath(type, id) }, ...ofFunction(about) },
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

function ofFunction({ functionType: type, name, version }: FunctionOfJob): Wire {
  return { [TYPE_NAMES[type].noun]: { href: pathOf({ type, name, version }) } }
}

function technical(job: FunctionJob['job'], type: JobType): Wire {
  const { id, progress, attemptsMade, finishedTime, processedTime, failedReason, ancestors } = job
  const parent = ancestors?.at(-1)
  return {
    id,
    name: type,
    progress: progress?.done ?? 0,
    attemptsMade,
    ...(finishedTime !== undefined && { finishedOn: finishedTime }),
    ...(processedTime !== undefined && { processedOn: processedTime }),
    ...(failedReason !== undefined && { failedReason }),
    ...(parent !== undefined && { parent: { id: parent } }),
  }
}

function jobLinks(type: JobType, id: string): Wire {
  return {
    event: { href: `${PREFIX}/jobs/events?type=${type}&id=${encodeURIComponent(id)}&children=true` },
    job: { href: jobPath(type, id), jobType: type },
  }
}

function jobPath(type: JobType, id: string): string {
  return `${PREFIX}/jobs/${type}/${encodeURIComponent(id)}`
}

function versionLink(found: RelatedVersion): Wire {
  const { version, draft, deprecated } = found
  return { href: pathOf(found), version, draft, deprecated }
}

function pathOf({ type, name, version }: FunctionId): string {
  return `${PREFIX}/${type}/${name}/versions/${version}`
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
