/** Implements the API of jobs: lists, single jobs and events. */
import type { Job, JobEvent, JobQueue } from '#jobs'
import { AppError, isPlainObject } from '#kernel'
import {
  type FunctionJob,
  type FunctionJobEvent,
  type FunctionType,
  type JobEventQuery,
  type JobsApi,
} from '../contract.ts'
import { JOB_TYPES } from '../function-schema.ts'
import { dataOf, type LifecycleData, shownType, storedTypes } from './job-data.ts'

export const DEFAULT_LIMIT = 20

const BEFORE_ACTIVE: ReadonlySet<JobEvent['event']> = new Set(['waiting', 'prioritized', 'waiting-children', 'active'])

/** maximum number of jobs of a tree that are replayed to a late subscriber */
const MAX_JOBS_OF_TREE = 1_000

/** `functionType`: the type of functions that filters refer to. */
export function jobsApi(queue: JobQueue, functionType: FunctionType): JobsApi {
  const get = async (type: string, id: string): Promise<FunctionJob> => {
    const job = await queue.get(id)
    const found = job && shownJob(job)
    if (found === undefined || found.type !== type)
      throw new AppError('NOT_FOUND', `No ${type} job '${id.slice(0, 100)}'`)
    return found
  }
  return {
    get,
    list: async ({
      limit = DEFAULT_LIMIT,
      types = JOB_TYPES,
      states,
      functionTypes,
      createdAfter,
      createdBefore,
      ...of
    }) => {
      const { name, version } = of
      const label =
        name === undefined ? undefined : `${functionType}/${name}${version === undefined ? '' : `@${version}`}`
      const jobs = await queue.list({
        types: types.flatMap(storedTypes),
        limit,
        ...(states && { states }),
        ...(label !== undefined && { label }),
        ...(functionTypes && { labels: functionTypes }),
        ...(createdAfter !== undefined && { createdAfter }),
        ...(createdBefore !== undefined && { createdBefore }),
      })
      return jobs.flatMap((job) => shownJob(job) ?? [])
    },
    events: (query) => events(queue, query),
    finished: (id) => queue.finished(id),
  }
}

function shownJob(job: Job): FunctionJob | undefined {
  const type = shownType(job.type)
  if (type === undefined) return undefined
  const { function: about, operation } = dataOf(job) as Partial<LifecycleData>
  return { type, job, ...(about && { function: about }), operation: operationText(operation) ?? type }
}

/** Batches of other services describe theirs. */
function operationText(operation: unknown): string | undefined {
  if (typeof operation === 'string') return operation
  const description = isPlainObject(operation) ? operation['description'] : undefined
  return typeof description === 'string' ? description : undefined
}

/** Begins with `ack`, ends with `close` for a single job; a late subscriber first gets what has begun and ended. */
async function* events(queue: JobQueue, query: JobEventQuery): AsyncGenerator<FunctionJobEvent> {
  const { type, id, children = false, signal } = query
  // read the position before the job, so that the end of the job is not missed
  const after = await queue.position()
  const job = id === undefined ? undefined : await queue.get(id)
  if (id !== undefined && job === undefined) throw new AppError('NOT_FOUND', `No job '${id.slice(0, 100)}'`)
  yield { event: 'ack', text: ackText(query) }
  if (job !== undefined && isEnd(job.state)) {
    yield closing(job.id, job.state)
    return
  }
  const begun = job === undefined || !children ? [] : await begunOf(queue, job)
  for (const one of begun) for (const event of eventsSoFar(one)) yield shownEvent(event, one)
  const known = new Map(begun.map((one) => [one.id, one]))
  for await (const event of queue.events({ after, signal })) {
    const shownAs = shownType(event.type)
    const isRequested = id === undefined ? type === undefined || shownAs === type : isOf(event, id, children)
    if (shownAs === undefined || !isRequested || isBefore(event, known.get(event.job))) continue
    const about = await queue.get(event.job)
    if (about !== undefined) yield shownEvent(event, about)
    if (event.job !== id || !isEnd(event.event)) continue
    yield closing(id, event.event)
    return
  }
}

/** Returns the jobs of the tree that have started: ended ones in order of their end, then active ones. */
async function begunOf(queue: JobQueue, job: Job): Promise<readonly Job[]> {
  const tree = [...(await queue.list({ below: job.id, limit: MAX_JOBS_OF_TREE })), job]
  const begun = tree.filter(({ processedTime, type }) => processedTime !== undefined && shownType(type) !== undefined)
  return begun.toSorted((a, b) => (a.finishedTime ?? Infinity) - (b.finishedTime ?? Infinity))
}

function eventsSoFar(job: Job): readonly JobEvent[] {
  const { id, type, ancestors, state, processedTime, finishedTime, result, failedReason } = job
  const head = { job: id, type, ancestors }
  const events: JobEvent[] = []
  if (processedTime !== undefined) events.push({ event: 'active', ...head, time: processedTime, prev: 'waiting' })
  if (finishedTime === undefined) return events
  const outcome = { ...(result !== undefined && { result }), ...(failedReason !== undefined && { failedReason }) }
  return [...events, { event: state, ...head, time: finishedTime, prev: 'active', ...outcome }]
}

/** True when the known state of the job includes or is newer than the event. */
function isBefore({ event, time }: JobEvent, job: Job | undefined): boolean {
  if (job?.finishedTime !== undefined) return time <= job.finishedTime
  return job?.processedTime !== undefined && time <= job.processedTime && BEFORE_ACTIVE.has(event)
}

function isOf(event: JobEvent, id: string, children: boolean): boolean {
  return event.job === id || (children && event.ancestors.includes(id))
}

function isEnd(state: string): boolean {
  return state === 'completed' || state === 'failed'
}

function closing(id: string, state: string): FunctionJobEvent {
  return { event: 'close', text: `Job with id ${id} has ${state}` }
}

function ackText({ type, id, children }: JobEventQuery): string {
  if (id !== undefined) return `Listening to events of ${children === true ? 'jobs dependent on job' : 'job'} ${id}`
  return `Listening to events of ${type === undefined ? 'all' : type} jobs`
}

function shownEvent(
  { event, type, job: id, time, prev, result, failedReason, progress }: JobEvent,
  job: Job,
): FunctionJobEvent {
  const { function: about } = dataOf(job) as Partial<LifecycleData>
  return {
    event,
    type: shownType(type) ?? 'build',
    id,
    ...(about && { function: about }),
    time,
    ...(prev && { prev }),
    ...(result !== undefined && { result }),
    ...(failedReason !== undefined && { failedReason }),
    ...(progress && { progress }),
    ...(event === 'delayed' && job.dueTime !== undefined && { delay: Math.max(0, job.dueTime - time) }),
  }
}
