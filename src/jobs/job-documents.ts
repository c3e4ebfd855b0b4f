/** Stores the jobs of one tenant. Each change is one commit, with its event and the resulting changes of ancestors. */
import { AppError } from '#kernel'
import type { Collection, Log, Store, Stored, Write } from '#storage'
import type { Job, JobEvent, Lease } from './contract.ts'
import { changed, eventOf, isOver, type JobChange } from './job-change.ts'
import { JOB_BATCHES, JOB_LOG, JOB_TURNS, JOBS, type JobBatch, type JobTurn } from './job-record.ts'

export interface JobDocumentsDependencies {
  /** epoch ms, for displayed times */
  readonly now: () => number
  readonly keepMs: (type: string) => number
  readonly committed: (jobs: readonly Job[]) => void
}

interface Step {
  readonly before?: Stored<Job>
  readonly after: Job
}

/** number of events that the log always keeps */
export const KEPT_EVENTS = 10_000
const TRIM_EVENTS = 1_000
const MAX_JOBS = 10_000

export class JobDocuments {
  readonly store: Store
  readonly jobs: Collection<Job>
  readonly batches: Collection<JobBatch>
  readonly log: Log
  readonly #turns: Collection<JobTurn>
  readonly #around: JobDocumentsDependencies

  constructor(store: Store, around: JobDocumentsDependencies) {
    this.store = store
    this.jobs = store.collection(JOBS)
    this.batches = store.collection(JOB_BATCHES)
    this.log = store.log(JOB_LOG)
    this.#turns = store.collection(JOB_TURNS)
    this.#around = around
  }

  /** Returns the writes for new jobs. Call `added` after committing them. */
  adding(jobs: readonly Job[]): readonly Write[] {
    return this.#writes(jobs.map((after) => ({ after })))
  }

  added(jobs: readonly Job[]): void {
    this.#around.committed(jobs)
  }

  /** Throws `CONFLICT` when the job changed since it was read (see `isAbout`) or its state forbids the change. */
  async change(stored: Stored<Job>, change: JobChange, writes: readonly Write[] = []): Promise<Stored<Job>> {
    const after = changed(stored.value, change)
    const [version = 0] = await this.#commit(
      async () => [{ before: stored, after }, ...(await this.#following(after))],
      writes,
      stored.id,
    )
    return { id: stored.id, version, value: after }
  }

  async changeUnlessChanged(
    stored: Stored<Job>,
    change: JobChange,
    writes: readonly Write[] = [],
  ): Promise<Stored<Job> | undefined> {
    try {
      return await this.change(stored, change, writes)
    } catch (error) {
      if (error instanceof AppError && error.code === 'CONFLICT') return undefined
      throw error
    }
  }

  /** Takes a job for execution. `isSerial`: only while no other job of the type runs. */
  async take(
    stored: Stored<Job>,
    lease: Lease,
    isSerial: boolean,
  ): Promise<Stored<Job> | 'taken-by-another' | 'not-its-turn'> {
    const turn = isSerial ? await this.#turn(stored.value) : []
    if (turn === undefined) return 'not-its-turn'
    const taken = await this.changeUnlessChanged(stored, { kind: 'take', lease, now: this.#around.now() }, turn)
    return taken ?? 'taken-by-another'
  }

  async cancel(id: string): Promise<void> {
    const steps = async (): Promise<readonly Step[]> => {
      const stored = await this.jobs.get(id)
      if (stored === undefined) throw new AppError('NOT_FOUND', `job ${id} does not exist`)
      const tree = await this.jobs.find({ where: [{ field: 'ancestors', op: 'eq', value: id }], limit: MAX_JOBS })
      const reason = 'cancelled'
      const cancelled = {
        before: stored,
        after: changed(stored.value, { kind: 'cancel', reason, ...this.ending(stored.value) }),
      }
      const below = tree
        .filter(({ value }) => !isOver(value.state))
        .map((before) => {
          const why = `its ancestor, job ${id}, was cancelled`
          return { before, after: changed(before.value, { kind: 'cancel', reason: why, ...this.ending(before.value) }) }
        })
      return [cancelled, ...below, ...(await this.#following(cancelled.after))]
    }
    await this.#commit(steps, [])
  }

  ready(type: string, limit: number): Promise<readonly Stored<Job>[]> {
    const sort = [{ field: 'priority' }, { field: 'order' }]
    return this.jobs.find({ where: [{ field: 'ready', op: 'eq', value: type }], sort, limit })
  }

  timed(type: string, limit: number): Promise<readonly Stored<Job>[]> {
    const where = [
      { field: 'type', op: 'eq', value: type },
      { field: 'lookTime', op: 'exists', value: true },
    ] as const
    return this.jobs.find({ where, sort: [{ field: 'lookTime' }], limit })
  }

  open(): Promise<ReadonlyMap<string, number>> {
    return this.jobs.countBy('open')
  }

  async children(id: string): Promise<readonly Job[]> {
    const where = [{ field: 'parent', op: 'eq', value: id }] as const
    const found = await this.jobs.find({ where, sort: [{ field: 'order' }], limit: MAX_JOBS })
    return found.map(({ value }) => value)
  }

  ending({ type }: Pick<Job, 'type'>): { readonly now: number; readonly keepMs: number } {
    return { now: this.#around.now(), keepMs: this.#around.keepMs(type) }
  }

  /** Returns a write that makes this the running job of its serial type; undefined while another job runs. */
  async #turn({ id, type }: Job): Promise<readonly Write[] | undefined> {
    const turn = await this.#turns.get(type)
    const holder = turn && (await this.jobs.get(turn.value.job))
    if (holder?.value.state === 'active') return undefined
    return [this.#turns.putting(type, { job: id }, turn?.version ?? 'absent')]
  }

  async #following(job: Job): Promise<readonly Step[]> {
    if (!isOver(job.state)) return []
    const steps: Step[] = []
    let last = job
    for (const id of job.ancestors.toReversed()) {
      const before = await this.jobs.get(id)
      if (before?.value.state !== 'waiting-children') break
      const reason = `its child ${last.type} ${last.id} failed: ${last.failedReason ?? ''}`
      const after =
        last.state === 'failed'
          ? changed(before.value, { kind: 'child-failed', reason, ...this.ending(before.value) })
          : changed(before.value, { kind: 'child-completed' })
      steps.push({ before, after })
      if (!isOver(after.state)) break
      last = after
    }
    return steps
  }

  /** Recomputes and retries the steps after a conflict on a job other than `fixed`. */
  async #commit(
    make: () => Promise<readonly Step[]>,
    writes: readonly Write[],
    fixed?: string,
  ): Promise<readonly number[]> {
    for (;;) {
      const steps = await make()
      try {
        const changes = this.#writes(steps)
        const { results } = await this.store.commit([...changes, ...writes])
        this.#around.committed(steps.map(({ after }) => after))
        this.#trim(changes, results)
        return results
      } catch (error) {
        const found = conflicts(error)
        const read = new Set(steps.map(({ before }) => before?.id).filter((id) => id !== fixed))
        if (found.length === 0 || !found.every((id) => id !== undefined && read.has(id))) throw error
      }
    }
  }

  #writes(steps: readonly Step[]): readonly Write[] {
    const time = this.#around.now()
    const events = steps.flatMap(({ before, after }): readonly JobEvent[] => {
      const event = eventOf(before?.value, after, time)
      return event === undefined ? [] : [event]
    })
    const puts = steps.map(({ before, after }) => this.jobs.putting(after.id, after, before?.version ?? 'absent'))
    // events are plain JSON, which the type does not show
    return events.length === 0 ? puts : [...puts, this.log.appending(events as never)]
  }

  #trim(changes: readonly Write[], results: readonly number[]): void {
    const append = changes.at(-1)
    if (append?.kind !== 'append') return
    const last = results[changes.length - 1] ?? 0
    const isDue = Math.floor(last / TRIM_EVENTS) !== Math.floor((last - append.bodies.length) / TRIM_EVENTS)
    // a later trim makes up for a failed one
    if (isDue && last > KEPT_EVENTS) this.log.trim(last - KEPT_EVENTS).catch(() => undefined)
  }
}

export function isAbout(error: unknown, job: string): boolean {
  return conflicts(error).includes(job)
}

function conflicts(error: unknown): readonly (string | undefined)[] {
  if (!(error instanceof AppError) || error.code !== 'CONFLICT') return []
  return error.issues.map(({ details }) => {
    const { collection, id } = details ?? {}
    return collection === JOBS.name && typeof id === 'string' ? id : undefined
  })
}
