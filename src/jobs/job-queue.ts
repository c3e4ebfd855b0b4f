/** Lets services add, read, follow and cancel the jobs of one tenant. */
import { AppError } from '#kernel'
import type { Condition, Store, Write } from '#storage'
import { plannedTree, type PlannedJob } from './check-job.ts'
import type { ItemOutcome, Job, JobEvent, JobHandler, JobState, JobTimers, NewJob } from './contract.ts'
import { isOver } from './job-change.ts'
import { JobDocuments } from './job-documents.ts'
import { batchId } from './job-record.ts'

export interface QueueDependencies {
  readonly handlers: ReadonlyMap<string, JobHandler>
  readonly newId: () => string
  /** epoch ms, for displayed times */
  readonly now: () => number
  readonly nextOrder: () => number
  readonly timers: JobTimers
  readonly committed: (jobs: readonly Job[]) => void
  readonly isStopped: () => boolean
}

export interface JobFilter {
  readonly types?: readonly string[]
  readonly states?: readonly JobState[]
  readonly label?: string
  readonly labels?: readonly string[]
  readonly below?: string
  /** epoch ms, exclusive */
  readonly createdAfter?: number
  readonly createdBefore?: number
  readonly limit?: number
}

export interface AddedJobs {
  readonly job: Job
  readonly jobs: readonly Job[]
  readonly writes: readonly Write[]
}

export interface EventsOptions {
  readonly after?: number
  readonly signal: AbortSignal
}

/** An event with its log position, after which a reader can resume. */
export interface PlacedEvent extends JobEvent {
  readonly position: number
}

/** batches read at once; about 4,000 items */
const BATCHES_AT_ONCE = 20
const EVENTS_AT_ONCE = 1_000
const REMOVED_AT_ONCE = 100
/** ms between polls for changes by other hosts */
const LOOK_MS = 1_000
const KEPT_MS = 7 * 86_400_000

export class JobQueue {
  readonly #documents: JobDocuments
  readonly #dependencies: QueueDependencies
  readonly #woken = new Set<() => void>()

  constructor(store: Store, dependencies: QueueDependencies) {
    this.#dependencies = dependencies
    this.#documents = new JobDocuments(store, {
      now: dependencies.now,
      keepMs: (type) => dependencies.handlers.get(type)?.keepMs ?? KEPT_MS,
      committed: (jobs) => {
        dependencies.committed(jobs)
        this.wake()
      },
    })
  }

  get documents(): JobDocuments {
    return this.#documents
  }

  async add(job: NewJob): Promise<Job> {
    await this.removeOld()
    const added = await this.adding(job)
    await this.#documents.store.commit(added.writes)
    this.added(added)
    return added.job
  }

  /** Returns the writes for a job; all items but the last few thousand are stored at once, to limit the commit. */
  async adding(job: NewJob, ancestors: readonly string[] = []): Promise<AddedJobs> {
    const { handlers, newId, now, nextOrder, isStopped } = this.#dependencies
    if (isStopped()) throw new AppError('CLOSED', 'the host is shutting down; retry when it is back')
    const { ms: storeTime } = await this.#documents.store.now()
    const planned = plannedTree(job, ancestors, { handlers, newId, now: now(), storeTime, nextOrder })
    const jobs = planned.map((one) => one.job)
    const batches = planned.flatMap((one) => this.#batchWrites(one))
    while (batches.length > BATCHES_AT_ONCE) await this.#documents.store.commit(batches.splice(0, BATCHES_AT_ONCE))
    return { job: planned[0].job, jobs, writes: [...batches, ...this.#documents.adding(jobs)] }
  }

  /** Call after committing the writes of `adding`. */
  added({ jobs }: AddedJobs): void {
    this.#documents.added(jobs)
  }

  async get(id: string): Promise<Job | undefined> {
    return (await this.#documents.jobs.get(id))?.value
  }

  async list(filter: JobFilter = {}): Promise<readonly Job[]> {
    const sort = [{ field: 'order', descending: true }]
    const found = await this.#documents.jobs.find({ where: conditionsOf(filter), sort, limit: filter.limit ?? 100 })
    return found.map(({ value }) => value)
  }

  counts(filter: Omit<JobFilter, 'limit'> = {}): Promise<ReadonlyMap<string, number>> {
    return this.#documents.jobs.countBy('state', conditionsOf(filter))
  }

  async *outcomes({ id, items }: Job): AsyncGenerator<readonly [string, ItemOutcome | undefined]> {
    for (let from = 0; from < (items?.batches ?? 0); from += BATCHES_AT_ONCE) {
      const count = Math.min(BATCHES_AT_ONCE, (items?.batches ?? 0) - from)
      const numbers = Array.from({ length: count }, (_, i) => batchId(id, from + i))
      for (const { value } of await this.#documents.batches.getMany(numbers)) {
        for (const [i, item] of value.items.entries()) {
          yield [typeof item === 'string' ? item : JSON.stringify(item), value.outcomes?.[i]]
        }
      }
      await this.#dependencies.timers.breathe()
    }
  }

  cancel(id: string): Promise<void> {
    return this.#documents.cancel(id)
  }

  async finished(id: string): Promise<void> {
    for (;;) {
      const woken = this.#wake()
      const job = await this.get(id)
      if (job === undefined || isOver(job.state) || this.#dependencies.isStopped()) return woken.cancel()
      await woken.promise
    }
  }

  async position(): Promise<number> {
    return (await this.#documents.log.bounds()).last
  }

  /** Yields the events of all hosts in log order; the log keeps at least the last 10,000. */
  async *events({ after, signal }: EventsOptions): AsyncGenerator<PlacedEvent> {
    const { log } = this.#documents
    const last = await this.position()
    // a position beyond the end comes from an earlier log
    let seen = Math.min(after ?? last, last)
    while (!signal.aborted) {
      const woken = this.#wake(signal)
      const entries = await log.read(seen, EVENTS_AT_ONCE)
      if (entries.length === 0) {
        if (this.#dependencies.isStopped()) return woken.cancel()
        await woken.promise
        continue
      }
      woken.cancel()
      for (const { position, body } of entries) {
        if (signal.aborted) return
        seen = position
        // `JobDocuments` wrote the body
        yield { position, ...(body as unknown as JobEvent) }
      }
    }
  }

  async removeOld(): Promise<void> {
    const { jobs, store } = this.#documents
    const where = [{ field: 'removeTime', op: 'lte', value: this.#dependencies.now() }] as const
    const old = await jobs.find({ where, limit: REMOVED_AT_ONCE })
    for (const { id, value, version } of old) {
      const below = await jobs.find({ where: [{ field: 'ancestors', op: 'eq', value: id }], limit: 10_000 })
      if (below.some((one) => !isOver(one.value.state))) continue
      for (const one of [value, ...below.map((child) => child.value)]) await this.#removeBatches(one)
      await store.commit([...below.map((one) => jobs.deleting(one.id)), jobs.deleting(id, version)])
    }
  }

  wake(): void {
    for (const wake of this.#woken) wake()
  }

  async #removeBatches({ id, items }: Job): Promise<void> {
    const { batches, store } = this.#documents
    const count = items?.batches ?? 0
    for (let from = 0; from < count; from += EVENTS_AT_ONCE) {
      const numbers = Array.from({ length: Math.min(EVENTS_AT_ONCE, count - from) }, (_, i) => from + i)
      await store.commit(numbers.map((number) => batches.deleting(batchId(id, number))))
    }
  }

  #batchWrites({ job, batches }: PlannedJob): readonly Write[] {
    return batches.map((items, number) => this.#documents.batches.putting(batchId(job.id, number), { items }))
  }

  #wake(signal?: AbortSignal): { readonly promise: Promise<void>; readonly cancel: () => void } {
    let done = (): void => undefined
    const promise = new Promise<void>((resolve) => (done = resolve))
    const cancelTimer = this.#dependencies.timers.later(LOOK_MS, () => end())
    const end = (): void => {
      cancelTimer()
      this.#woken.delete(end)
      signal?.removeEventListener('abort', end)
      done()
    }
    this.#woken.add(end)
    signal?.addEventListener('abort', end, { once: true })
    return { promise, cancel: end }
  }
}

function conditionsOf(filter: JobFilter): readonly Condition[] {
  const { types, states, label, labels, below, createdAfter, createdBefore } = filter
  return [
    ...(types ? [{ field: 'type', op: 'in', values: types } as const] : []),
    ...(states ? [{ field: 'state', op: 'in', values: states } as const] : []),
    ...(label === undefined ? [] : [{ field: 'labels', op: 'eq', value: label } as const]),
    ...(labels ? [{ field: 'labels', op: 'in', values: labels } as const] : []),
    ...(below === undefined ? [] : [{ field: 'ancestors', op: 'eq', value: below } as const]),
    ...(createdAfter === undefined ? [] : [{ field: 'queueTime', op: 'gt', value: createdAfter } as const]),
    ...(createdBefore === undefined ? [] : [{ field: 'queueTime', op: 'lt', value: createdBefore } as const]),
  ]
}
