/** Applies the same steps to jobs in a store, without a runner, and to the model. */
import fc from 'fast-check'
import type { NewJob } from '../../../src/jobs/contract.ts'
import type { JobChange } from '../../../src/jobs/job-change.ts'
import { JobQueue } from '../../../src/jobs/job-queue.ts'
import { JobModel, isOver, type ModelJob, type ModelTree } from './job-model.ts'
import { eventsOf, JobWorld, TENANT } from './job-world.ts'

const LEASE = 10_000

const { tree } = fc.letrec<{ tree: Omit<ModelTree, 'id'> & { children: readonly Omit<ModelTree, 'id'>[] } }>((tie) => ({
  tree: fc.record({
    priority: fc.constantFrom(0, 0, 1, 2),
    delay: fc.constantFrom(0, 0, 3_000, 20_000),
    children: fc.oneof({ maxDepth: 2 }, fc.constant([]), fc.array(tie('tree'), { maxLength: 3 })),
  }) as never,
}))

const place = fc.nat(50)
export const steps = fc.oneof(
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
type Step = typeof steps extends fc.Arbitrary<infer T> ? T : never

export class Pair {
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
  /** job that the last acquisition returned */
  #took: string | undefined
  #modelTook: string | undefined

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
        this.#modelTook = model.take(LEASE)?.id
        const [first] = await documents.ready('work', 1)
        const lease = { until: this.world.now + LEASE }
        const taken = first && (await documents.take(first, lease, true))
        this.#took = typeof taken === 'object' ? taken.id : undefined
        return
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

  /** The visible content of the store. */
  async stored(): Promise<unknown> {
    const { documents } = this.queue
    const jobs = (await this.queue.list({ limit: 10_000 })).toReversed()
    const ready = await documents.ready('work', 10_000)
    return {
      jobs: jobs.map(({ id, state, dueTime, lease, attemptsMade, attemptsStarted, ancestors }) => {
        return [id, state, dueTime ?? lease?.until, attemptsMade, attemptsStarted, ancestors.at(-1)]
      }),
      ready: ready.map(({ id }) => id),
      open: (await documents.open()).get('work') ?? 0,
      took: this.#took,
    }
  }

  modelled(): unknown {
    const { jobs, ready } = this.model
    return {
      jobs: jobs.map(({ id, state, time, attempts, taken, parent }) => [id, state, time, attempts, taken, parent?.id]),
      ready: ready.map(({ id }) => id),
      open: jobs.filter((job) => !isOver(job)).length,
      took: this.#modelTook,
    }
  }

  /** The state of each job according to the log. */
  async told(): Promise<ReadonlyMap<string, string>> {
    const last = new Map<string, string>()
    for (const { job, event } of await eventsOf(this.queue)) if (event !== 'progress') last.set(job, event)
    return last
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
