/** State machine of jobs: a table of allowed transitions, and pure functions. */
import { AppError, type Json } from '#kernel'
import type { Job, JobEvent, JobState, Lease, Progress } from './contract.ts'

/** When a job ended (epoch ms), and how long it is then kept (ms). */
interface Ending {
  readonly now: number
  readonly keepMs: number
}

export type JobChange =
  | { readonly kind: 'promote' }
  | { readonly kind: 'take'; readonly lease: Lease; readonly now: number }
  | { readonly kind: 'renew'; readonly lease: Lease }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'release' }
  /** the lease expired, because the holder died or was cut off */
  | ({ readonly kind: 'stall' } & Ending)
  /** the holder cannot execute the job now, for reasons outside the job */
  | { readonly kind: 'postpone'; readonly dueTime: number }
  | { readonly kind: 'retry'; readonly dueTime: number; readonly reason: string }
  | { readonly kind: 'wait-for-children'; readonly children: number }
  | { readonly kind: 'child-completed' }
  | ({ readonly kind: 'child-failed'; readonly reason: string } & Ending)
  | ({
      readonly kind: 'complete'
      readonly result?: Json | undefined
      readonly progress?: Progress | undefined
    } & Ending)
  | ({ readonly kind: 'fail'; readonly reason: string } & Ending)
  | ({ readonly kind: 'cancel'; readonly reason: string } & Ending)

const OPEN: readonly JobState[] = ['waiting', 'prioritized', 'delayed', 'waiting-children', 'active']
const READY: readonly JobState[] = ['waiting', 'prioritized']
const ACTIVE: readonly JobState[] = ['active']
const PARENT: readonly JobState[] = ['waiting-children']

const FROM: { readonly [kind in JobChange['kind']]: readonly JobState[] } = {
  promote: ['delayed'],
  take: READY,
  renew: ACTIVE,
  progress: ACTIVE,
  release: ACTIVE,
  stall: ACTIVE,
  postpone: ACTIVE,
  retry: ACTIVE,
  'wait-for-children': ACTIVE,
  'child-completed': PARENT,
  'child-failed': PARENT,
  complete: ACTIVE,
  fail: ACTIVE,
  cancel: OPEN,
}

/** Maximum number of successive hosts that may crash without progress, before the job counts as the cause. */
export const MAX_STALLS = 10

export function isOver(state: JobState): boolean {
  return !OPEN.includes(state)
}

export function isReady(state: JobState): boolean {
  return READY.includes(state)
}

export function readyState({ priority }: Pick<Job, 'priority'>): JobState {
  return priority > 0 ? 'prioritized' : 'waiting'
}

export function changed(job: Job, change: JobChange): Job {
  const { kind } = change
  if (!FROM[kind].includes(job.state)) {
    throw new AppError('CONFLICT', `job ${job.id} is ${job.state}; ${kind} requires ${FROM[kind].join(' or ')}`)
  }
  const { lease: _lease, dueTime: _dueTime, ...free } = job
  const ready = readyState(job)
  switch (change.kind) {
    case 'promote':
    case 'release':
      return { ...free, state: ready }
    case 'take': {
      const { lease, now } = change
      const { attemptsStarted, processedTime = now } = job
      return { ...free, state: 'active', lease, processedTime, attemptsStarted: attemptsStarted + 1 }
    }
    case 'renew':
      return { ...job, lease: change.lease }
    case 'progress':
      return { ...job, progress: change.progress, stalls: 0 }
    case 'stall': {
      const stalls = job.stalls + 1
      if (stalls <= MAX_STALLS) return { ...free, state: ready, stalls }
      const failedReason = `its host died ${stalls} times in a row during its execution`
      return over({ ...free, stalls, failedReason }, 'failed', change)
    }
    case 'postpone':
      return { ...free, state: 'delayed', dueTime: change.dueTime }
    case 'retry': {
      const { dueTime, reason } = change
      return { ...free, state: 'delayed', dueTime, failedReason: reason, stalls: 0, attemptsMade: job.attemptsMade + 1 }
    }
    case 'wait-for-children': {
      const { children } = change
      return { ...free, state: children > 0 ? 'waiting-children' : ready, childrenLeft: children, stalls: 0 }
    }
    case 'child-completed': {
      const childrenLeft = job.childrenLeft - 1
      return { ...job, childrenLeft, state: childrenLeft > 0 ? job.state : ready }
    }
    case 'child-failed':
      return over({ ...free, failedReason: change.reason }, 'failed', change)
    case 'cancel':
      return over({ ...free, failedReason: change.reason, isCancelled: true }, 'failed', change)
    case 'fail':
      return over({ ...free, failedReason: change.reason, attemptsMade: job.attemptsMade + 1 }, 'failed', change)
    case 'complete': {
      const { failedReason: _failedReason, ...good } = free
      const { result, progress } = change
      const changes = { ...(result !== undefined && { result }), ...(progress && { progress }) }
      return over({ ...good, ...changes, attemptsMade: job.attemptsMade + 1 }, 'completed', change)
    }
  }
}

/** Ends a job. A root is removed later, together with its tree; its descendants are kept until then. */
function over(job: Job, state: JobState, { now, keepMs }: Ending): Job {
  return { ...job, state, finishedTime: now, ...(job.ancestors.length === 0 && { removeTime: now + keepMs }) }
}

export function eventOf(before: Job | undefined, after: Job, time: number): JobEvent | undefined {
  const { id, type, ancestors, state, progress, result, failedReason, dueTime } = after
  const head = { job: id, type, ancestors, time }
  if (before?.state === state) {
    return progress === undefined || progress === before.progress
      ? undefined
      : { event: 'progress', ...head, prev: state, progress }
  }
  return {
    event: state,
    ...head,
    ...(before && { prev: before.state }),
    ...(state === 'completed' && result !== undefined && { result }),
    ...(state === 'failed' && failedReason !== undefined && { failedReason }),
    ...(state === 'delayed' && dueTime !== undefined && { dueTime }),
  }
}
