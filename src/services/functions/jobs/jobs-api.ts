/** The jobs of functions for whoever asks: listed, looked at, followed. */
import type { Job, JobEvent } from '../../../jobs/contract.ts'
import type { JobQueue, PlacedEvent } from '../../../jobs/job-queue.ts'
import { AppError } from '../../../kernel/errors.ts'
import {
  type FunctionJob,
  type FunctionJobEvent,
  type FunctionType,
  JOB_TYPES,
  type JobEventQuery,
  type JobsApi,
} from '../contract.ts'
import { dataOf, type LifecycleData, shownType, storedTypes } from './job-data.ts'

export const DEFAULT_LIMIT = 20

/** `own`: the type of the versions that may be asked about by name. */
export function jobsApi(queue: JobQueue, own: FunctionType): JobsApi {
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
      const label = name === undefined ? undefined : `${own}/${name}${version === undefined ? '' : `@${version}`}`
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
  return { type, job, ...(about && { function: about }), operation: typeof operation === 'string' ? operation : type }
}

/** Begins with `ack`; ends with `close` once the job that was asked for is over. */
async function* events(queue: JobQueue, query: JobEventQuery): AsyncGenerator<FunctionJobEvent> {
  const { type, id, children = false, signal } = query
  // followed before the job is looked at, so that its end is not missed between
  const over = new AbortController()
  const followed = queue.events({ signal: AbortSignal.any([signal, over.signal]) })
  const first = followed.next()
  const job = id === undefined ? undefined : await queue.get(id)
  if (id !== undefined && job === undefined) {
    over.abort()
    throw new AppError('NOT_FOUND', `No job '${id.slice(0, 100)}'`)
  }
  try {
    yield { event: 'ack', text: ackText(query) }
    if (job !== undefined && isEnd(job.state)) {
      yield closing(job.id, job.state)
      return
    }
    for (let next = await first; next.done !== true; next = await followed.next()) {
      const event = next.value
      const shownAs = shownType(event.type)
      const isAsked = id === undefined ? type === undefined || shownAs === type : isOf(event, id, children)
      if (shownAs === undefined || !isAsked) continue
      const about = await queue.get(event.job)
      if (about !== undefined) yield told(event, about)
      if (event.job !== id || !isEnd(event.event)) continue
      yield closing(id, event.event)
      return
    }
  } finally {
    // what waits for the next event is let go
    over.abort()
  }
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

function told(
  { event, type, job: id, time, prev, result, failedReason, progress }: PlacedEvent,
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
