/** Jobs in a store do what the model says, step by step, for random trees and random ends. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Job, NewJob } from '../../src/jobs/contract.ts'
import type { JobChange } from '../../src/jobs/job-change.ts'
import { JobQueue } from '../../src/jobs/job-queue.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { JobModel, isOver, type ModelJob, type ModelTree } from './support/job-model.ts'
import { eventsOf, JobWorld, TENANT } from './support/job-world.ts'

const LEASE = 10_000

const { tree } = fc.letrec<{ tree: Omit<ModelTree, 'id'> & { children: readonly Omit<ModelTree, 'id'>[] } }>((tie) => ({
  tree: fc.record({
    priority: fc.constantFrom(0, 0, 1, 2),
    delay: fc.constantFrom(0, 0, 3_000, 20_000),
    children: fc.oneof({ maxDepth: 2 }, fc.constant([]), fc.array(tie('tree'), { maxLength: 3 })),
  }) as never,
}))

const place = fc.nat(50)
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), tree }) },
  { weight: 8, arbitrary: fc.constant({ kind: 'take' as const }) },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constantFrom('complete' as const, 'complete' as const, 'fail' as const), place }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('retry' as const), place, delay: fc.nat(9_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), place }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('grow' as const),
      place,
      trees: fc.array(tree, { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), place }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('look' as const), ms: fc.constantFrom(0, 3_000, 12_000) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** The same steps on jobs in a store, by hand instead of by a runner, and on the model. */
class Pair {
  readonly world = new JobWorld()
  readonly model = new JobModel(this.world.now)
  readonly queue = new JobQueue(this.world.storage.tenant(TENANT), {
    handlers: new Map([['work', { type: 'work', run: never }]]),
    newId: () => 'all have ids',
    now: () => this.world.now,
    nextOrder: () => ++this.#order,
    timers: { later: () => () => undefined, breathe: () => Promise.resolve(), random: () => 0 },
    committed: () => undefined,
    isStopped: () => false,
  })
  #order = 0
  #ids = 0

  async do(one: Step): Promise<void> {
    const { model, queue } = this
    const { documents } = queue
    switch (one.kind) {
      case 'add': {
        const named = this.#named(one.tree)
        model.add(named)
        const { writes } = await queue.adding(jobOf(named))
        await documents.store.commit([...writes])
        return
      }
      case 'take': {
        const expected = model.take(LEASE)
        const [first] = await documents.ready('work', 1)
        const lease = { until: this.world.now + LEASE }
        const taken = first && (await documents.take(first, lease, true))
        return expect(typeof taken === 'object' ? taken.id : undefined).toBe(expected?.id)
      }
      case 'look':
        this.world.now += one.ms
        model.now += one.ms
        model.look()
        return this.#look()
      case 'cancel': {
        const job = pick(
          model.jobs.filter((each) => !isOver(each)),
          one.place,
        )
        if (job === undefined) return
        model.cancel(job)
        return queue.cancel(job.id)
      }
      default:
        return this.#end(one)
    }
  }

  async compare(): Promise<void> {
    const { model, queue } = this
    const jobs = new Map((await queue.list({ limit: 10_000 })).map((job) => [job.id, job]))
    const shown = (job: Job | undefined) => [
      job?.state,
      job?.dueTime ?? job?.lease?.until,
      job?.attemptsMade,
      job?.attemptsStarted,
      job?.ancestors.at(-1),
    ]
    for (const { id, state, time, attempts, taken, parent } of model.jobs) {
      expect([id, ...shown(jobs.get(id))]).toEqual([id, state, time, attempts, taken, parent?.id])
    }
    expect(jobs.size).toBe(model.jobs.length)
    const ready = await queue.documents.ready('work', 10_000)
    expect(ready.map(({ id }) => id)).toEqual(model.ready.map(({ id }) => id))
    const open = await queue.documents.open()
    expect(open.get('work') ?? 0).toBe(model.jobs.filter((job) => !isOver(job)).length)
  }

  /** Nobody can have seen a state that is not in the log. */
  async compareEvents(): Promise<void> {
    const last = new Map<string, string>()
    for (const { job, event } of await eventsOf(this.queue)) if (event !== 'progress') last.set(job, event)
    expect(last).toEqual(new Map(this.model.jobs.map(({ id, state }) => [id, state])))
  }

  async #end(one: Exclude<Step, { kind: 'add' | 'take' | 'look' | 'cancel' }>): Promise<void> {
    const { model } = this
    const job = pick(model.active, one.place)
    if (job === undefined) return
    const ending = { now: this.world.now, keepMs: 1 }
    switch (one.kind) {
      case 'complete':
        model.end(job, 'completed')
        return this.#change(job, { kind: 'complete', ...ending })
      case 'fail':
        model.end(job, 'failed')
        return this.#change(job, { kind: 'fail', reason: 'broken', ...ending })
      case 'retry':
        model.retry(job, one.delay)
        return this.#change(job, { kind: 'retry', dueTime: this.world.now + one.delay, reason: 'no luck' })
      case 'release':
        model.release(job)
        return this.#change(job, { kind: 'release' })
      case 'grow': {
        const trees = one.trees.map((each) => this.#named(each))
        model.waitForChildren(job, trees)
        const stored = await this.#stored(job)
        const added = []
        for (const each of trees) added.push(await this.queue.adding(jobOf(each), [...stored.value.ancestors, job.id]))
        const writes = added.flatMap((each) => each.writes)
        await this.queue.documents.change(stored, { kind: 'wait-for-children', children: trees.length }, writes)
      }
    }
  }

  async #look(): Promise<void> {
    const { documents } = this.queue
    for (const stored of await documents.timed('work', 10_000)) {
      const { state, dueTime, lease } = stored.value
      if ((dueTime ?? lease?.until ?? 0) > this.world.now) continue
      const stall = { kind: 'stall', now: this.world.now, keepMs: 1 } as const
      await documents.change(stored, state === 'delayed' ? { kind: 'promote' } : stall)
    }
  }

  async #change(job: ModelJob, change: JobChange): Promise<void> {
    await this.queue.documents.change(await this.#stored(job), change)
  }

  async #stored({ id }: ModelJob) {
    const stored = await this.queue.documents.jobs.get(id)
    if (stored === undefined) throw new Error(`there is no job ${id}`)
    return stored
  }

  #named({ children, ...job }: Omit<ModelTree, 'id'> & { children: readonly Omit<ModelTree, 'id'>[] }): ModelTree {
    const id = `m${this.#ids++}`
    return { ...job, id, children: children.map((child) => this.#named(child as never)) }
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined)
}

function jobOf({ id, priority, delay, children }: ModelTree): NewJob {
  const head = { type: 'work', id, priority }
  return children.length > 0 ? { ...head, children: children.map(jobOf) } : { ...head, delay }
}

function pick<T>(list: readonly T[], at: number): T | undefined {
  return list[at % Math.max(1, list.length)]
}

describe('jobs in a store', () => {
  it('are what the model says after every step', () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const pair = new Pair()
        for (const one of steps) {
          await pair.do(one)
          await pair.compare()
        }
        await pair.compareEvents()
      }),
      runs(200),
    ))
})
