/** Tests the table of states and their permitted changes. */
import { describe, expect, it } from 'vitest'
import { JOB_STATES, type Job, type JobState } from '../../src/jobs/contract.ts'
import { changed, eventOf, MAX_STALLS, type JobChange } from '../../src/jobs/job-change.ts'
import { AppError } from '../../src/kernel/errors.ts'

const ENDING = { now: 50, keepMs: 1000 }
const LEASE = { until: 99, session: 's' }

function jobIn(state: JobState, more: Partial<Job> = {}): Job {
  return {
    id: 'j',
    type: 'work',
    state,
    data: {},
    ancestors: [],
    childrenLeft: state === 'waiting-children' ? 1 : 0,
    priority: state === 'prioritized' ? 3 : 0,
    order: 1,
    queueTime: 10,
    attemptsStarted: 0,
    attemptsMade: 0,
    stalls: 0,
    ...(state === 'active' && { lease: LEASE }),
    ...(state === 'delayed' && { dueTime: 30 }),
    ...more,
  }
}

const CHANGES: { readonly [kind in JobChange['kind']]: Extract<JobChange, { kind: kind }> } = {
  promote: { kind: 'promote' },
  take: { kind: 'take', lease: LEASE, now: 20 },
  renew: { kind: 'renew', lease: { until: 200 } },
  progress: { kind: 'progress', progress: { done: 1, total: 2 } },
  release: { kind: 'release' },
  stall: { kind: 'stall', ...ENDING },
  postpone: { kind: 'postpone', dueTime: 70 },
  retry: { kind: 'retry', dueTime: 70, reason: 'no luck' },
  'wait-for-children': { kind: 'wait-for-children', children: 2 },
  'child-completed': { kind: 'child-completed' },
  'child-failed': { kind: 'child-failed', reason: 'its child failed', ...ENDING },
  complete: { kind: 'complete', result: { a: 1 }, ...ENDING },
  fail: { kind: 'fail', reason: 'broken', ...ENDING },
  cancel: { kind: 'cancel', reason: 'cancelled', ...ENDING },
}

/** Next state of a job for each change; changes of unlisted states are rejected. */
const TABLE: { readonly [kind in JobChange['kind']]: Partial<Record<JobState, JobState>> } = {
  promote: { delayed: 'waiting' },
  take: { waiting: 'active', prioritized: 'active' },
  renew: { active: 'active' },
  progress: { active: 'active' },
  release: { active: 'waiting' },
  stall: { active: 'waiting' },
  postpone: { active: 'delayed' },
  retry: { active: 'delayed' },
  'wait-for-children': { active: 'waiting-children' },
  'child-completed': { 'waiting-children': 'waiting' },
  'child-failed': { 'waiting-children': 'failed' },
  complete: { active: 'completed' },
  fail: { active: 'failed' },
  cancel: {
    waiting: 'failed',
    prioritized: 'failed',
    delayed: 'failed',
    'waiting-children': 'failed',
    active: 'failed',
  },
}

const kinds = Object.keys(CHANGES) as JobChange['kind'][]

describe.each(kinds)('%s', (kind) => {
  it.each(JOB_STATES)('of a job that is %s', (state) => {
    const expected = TABLE[kind][state]
    const job = jobIn(state)
    if (expected === undefined) {
      const refusal = (): unknown => changed(job, CHANGES[kind])
      expect(refusal).toThrow(AppError)
      expect(refusal).toThrow(`job j is ${state}; ${kind} requires `)
      return
    }
    const after = changed(job, CHANGES[kind])
    expect(after.state).toBe(expected)
    expect(after.lease !== undefined, 'it has a lease while it is active').toBe(expected === 'active')
    expect(after.dueTime !== undefined, 'it is due some time while it is delayed').toBe(expected === 'delayed')
    expect(after.finishedTime, 'it ended now').toBe(['completed', 'failed'].includes(expected) ? 50 : undefined)
    expect(after.removeTime).toBe(after.finishedTime === undefined ? undefined : 1050)
  })
})

describe('a job', () => {
  it('with a priority is ordered by priority wherever another one waits', () => {
    const urgent = { priority: 2 }
    const states = [
      changed(jobIn('delayed', urgent), CHANGES.promote),
      changed(jobIn('active', urgent), CHANGES.release),
      changed(jobIn('active', urgent), CHANGES.stall),
      changed(jobIn('waiting-children', urgent), CHANGES['child-completed']),
      changed(jobIn('active', urgent), { kind: 'wait-for-children', children: 0 }),
    ].map(({ state }) => state)
    expect(states).toEqual(Array.from({ length: 5 }, () => 'prioritized'))
  })

  it('counts how often it was acquired and how often it ended', () => {
    const taken = changed(jobIn('waiting', { attemptsStarted: 1, attemptsMade: 1, processedTime: 5 }), CHANGES.take)
    expect(taken).toMatchObject({ attemptsStarted: 2, attemptsMade: 1, processedTime: 5 })
    for (const kind of ['retry', 'fail', 'complete'] as const) {
      expect([kind, changed(taken, CHANGES[kind]).attemptsMade]).toEqual([kind, 2])
    }
    for (const kind of ['release', 'stall', 'postpone', 'wait-for-children', 'cancel'] as const) {
      expect([kind, changed(taken, CHANGES[kind]).attemptsMade]).toEqual([kind, 1])
    }
  })

  it('that repeatedly kills its host fails, unless it makes progress in between', () => {
    const stalled = jobIn('active', { stalls: MAX_STALLS - 1 })
    expect(changed(stalled, CHANGES.stall)).toMatchObject({ state: 'waiting', stalls: MAX_STALLS })
    const once = jobIn('active', { stalls: MAX_STALLS })
    expect(changed(once, CHANGES.stall)).toMatchObject({
      state: 'failed',
      failedReason: 'its host died 11 times in a row during its execution',
      finishedTime: 50,
    })
    expect(changed(once, CHANGES.progress)).toMatchObject({ state: 'active', stalls: 0 })
  })

  it('that completes drops the reason of its failed attempt, and a child is deleted with its root', () => {
    const again = jobIn('active', { failedReason: 'no luck', ancestors: ['root'] })
    const done = changed(again, CHANGES.complete)
    expect(done).toMatchObject({ state: 'completed', result: { a: 1 } })
    expect([done.failedReason, done.removeTime]).toEqual([undefined, undefined])
  })
})

describe('an event', () => {
  it.each<[Job | undefined, Job, object | undefined]>([
    [undefined, jobIn('waiting'), { event: 'waiting' }],
    [undefined, jobIn('delayed'), { event: 'delayed', dueTime: 30 }],
    [jobIn('waiting'), jobIn('active'), { event: 'active', prev: 'waiting' }],
    [
      jobIn('active'),
      jobIn('completed', { result: { a: 1 } }),
      { event: 'completed', prev: 'active', result: { a: 1 } },
    ],
    [
      jobIn('active'),
      jobIn('failed', { failedReason: 'broken' }),
      { event: 'failed', prev: 'active', failedReason: 'broken' },
    ],
    [
      jobIn('active'),
      jobIn('active', { progress: { done: 1, total: 2 } }),
      { event: 'progress', prev: 'active', progress: { done: 1, total: 2 } },
    ],
    [jobIn('active'), changed(jobIn('active'), CHANGES.renew), undefined],
    [
      jobIn('waiting-children', { childrenLeft: 2 }),
      changed(jobIn('waiting-children', { childrenLeft: 2 }), CHANGES['child-completed']),
      undefined,
    ],
  ])('from %j to %j', (before, after, expected) => {
    const head = { job: 'j', type: 'work', ancestors: [], time: 7 }
    expect(eventOf(before, after, 7)).toEqual(expected && { ...head, ...expected })
  })
})
