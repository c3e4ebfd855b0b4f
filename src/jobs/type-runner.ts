/**
 * Carries out the jobs of one type of one tenant: takes those that are ready as long as there are places, looks after
 * those that are due or whose holder is gone, and brings each to its end.
 */
import { AppError, messageOf } from '../kernel/errors.ts'
import type { StoreTime } from '../storage/contract.ts'
import type { JobContext, JobHandler, JobOutcome, JobsLogger, JobTimers } from './contract.ts'
import { MOST_IN_TREE } from './check-job.ts'
import { HeldJob, isClosed, leaseFrom, reasonOf } from './held-job.ts'
import type { AddedJobs, JobQueue } from './job-queue.ts'

export interface TypeRunnerParts {
  readonly tenant: string
  readonly handler: JobHandler
  readonly queue: JobQueue
  readonly places: Places
  readonly timers: JobTimers
  readonly logger: JobsLogger | undefined
}

/** An attempt that failed but need not be the last. */
interface FailedAttempt {
  readonly kind: 'attempt-failed'
  readonly error: unknown
}

const BACKOFF = { delay: 1_000, most: 60_000 }
const CONCURRENCY = 100
/** Jobs that are read at once. */
const PAGE = 100
/** ms after which what the store refused is asked again */
const AGAIN_MS = 2_000

/** How many jobs of a type this host carries out at once, over all tenants. */
export class Places {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor({ concurrency = CONCURRENCY }: JobHandler) {
    this.#free = concurrency
  }

  /** False when there is none; then `wake` is called when there is one again. */
  take(wake: () => void): boolean {
    if (this.#free === 0) {
      this.#waiting.add(wake)
      return false
    }
    this.#free--
    return true
  }

  give(): void {
    this.#free++
    const [first] = this.#waiting
    if (first === undefined) return
    this.#waiting.delete(first)
    first()
  }
}

export class TypeRunner {
  readonly #parts: TypeRunnerParts
  readonly #running = new Map<string, { readonly held: HeldJob; readonly ended: Promise<void> }>()
  #isAsked = false
  #isStopped = false
  #looking: Promise<void> | undefined
  #cancelTimer: () => void = () => undefined
  #open = 0
  readonly #wake = (): void => this.wake()

  constructor(parts: TypeRunnerParts) {
    this.#parts = parts
  }

  /** jobs that were not over at the last look */
  get open(): number {
    return this.#open
  }

  /** There may be something to do. Never waits. */
  wake(): void {
    if (this.#isStopped) return
    this.#isAsked = true
    this.#looking ??= this.#lookOn()
  }

  /** A job was cancelled. */
  cancelled(id: string): void {
    this.#running.get(id)?.held.lose()
  }

  /** What is under way comes to an end or is given back. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTimer()
    for (const { held } of this.#running.values()) held.stop()
    await this.idle()
  }

  /** Resolves when nothing is under way and nothing can be taken. */
  async idle(): Promise<void> {
    for (let busy: readonly Promise<void>[]; (busy = this.#busy()).length > 0;) await Promise.all(busy)
  }

  #busy(): readonly Promise<void>[] {
    const running = [...this.#running.values()].map(({ ended }) => ended)
    return this.#looking === undefined ? running : [this.#looking, ...running]
  }

  async #lookOn(): Promise<void> {
    // the answer to the request comes first
    await this.#parts.timers.breathe()
    try {
      while (this.#isAsked && !this.#isStopped) {
        this.#isAsked = false
        await this.#look()
      }
    } catch (error) {
      if (isClosed(error)) return
      const { tenant, handler, logger } = this.#parts
      logger?.error(`jobs of type ${handler.type} of tenant ${tenant} wait: ${messageOf(error)}; they go on later`)
      this.#wakeIn(AGAIN_MS)
    } finally {
      // nothing is waited for since it was asked last: no call comes in between
      this.#looking = undefined
    }
  }

  async #look(): Promise<void> {
    const { handler, queue } = this.#parts
    const { documents } = queue
    const time = await documents.store.now()
    for (;;) {
      await this.#takeReady(time)
      const { isChanged, next } = await this.#lookAtTimed(time)
      if (isChanged && !this.#isStopped) continue
      if (next !== undefined) this.#wakeIn(Math.max(1, next - time.ms))
      break
    }
    this.#open = await documents.jobs.count([{ field: 'open', op: 'eq', value: handler.type }])
  }

  async #takeReady({ ms, session }: StoreTime): Promise<void> {
    const { handler, queue, places } = this.#parts
    const { documents } = queue
    const { type, isSerial = false } = handler
    while (!this.#isStopped) {
      const found = await documents.ready(type, isSerial ? 1 : PAGE)
      // whose lease was lost may still be with its handler here
      const ready = found.filter(({ id }) => !this.#running.has(id))
      if (ready.length === 0) return
      for (const one of ready) {
        if (this.#isStopped || !places.take(this.#wake)) return
        const taken = await documents.take(one, leaseFrom(ms, session), isSerial).catch((error: unknown) => {
          places.give()
          throw error
        })
        if (taken === 'taken-by-another') places.give()
        else if (taken === 'not-its-turn') return places.give()
        else this.#begin(new HeldJob(documents, taken, this.#parts.timers))
      }
    }
  }

  /** `next`: when to look again, by the clock of the store. */
  async #lookAtTimed(time: StoreTime): Promise<{ readonly isChanged: boolean; readonly next: number | undefined }> {
    const { handler, queue } = this.#parts
    const { documents } = queue
    let isChanged = false
    let next: number | undefined
    for (const one of await documents.timed(handler.type, this.#running.size + PAGE)) {
      const { state, dueTime, lease } = one.value
      if (this.#running.has(one.id)) continue
      const lookTime = dueTime ?? lease?.until ?? 0
      if (lookTime > time.ms && (lease === undefined || lease.session === time.session)) {
        next = Math.min(next ?? lookTime, lookTime)
        continue
      }
      const change =
        state === 'delayed'
          ? ({ kind: 'promote' } as const)
          : ({ kind: 'stall', ...documents.ending(one.value) } as const)
      // whoever came first did the same
      if (await documents.changeUnlessChanged(one, change)) isChanged = true
    }
    return { isChanged, next }
  }

  #begin(held: HeldJob): void {
    const { id } = held.job
    const ended = this.#carryOut(held).finally(() => {
      held.letGo()
      this.#running.delete(id)
      this.#parts.places.give()
      this.wake()
    })
    this.#running.set(id, { held, ended })
  }

  /** Never rejects. */
  async #carryOut(held: HeldJob): Promise<void> {
    await this.#parts.timers.breathe()
    const outcome = await this.#outcome(held)
    try {
      await this.#settle(held, outcome).catch((error: unknown) => {
        if (isClosed(error)) throw error
        return this.#settle(held, { kind: 'attempt-failed', error })
      })
    } catch (error) {
      // its lease runs out, and then it is carried out again
      if (!held.isLost && !isClosed(error)) this.#say('error', held, `its end was not stored: ${messageOf(error)}`)
    }
    if (held.isLost) this.#say('warn', held, 'it was cancelled, or another host has it: what it did last is not stored')
  }

  async #outcome(held: HeldJob): Promise<JobOutcome | FailedAttempt> {
    if (this.#isStopped) return { kind: 'released' }
    const { handler, queue, tenant, timers } = this.#parts
    const { documents } = queue
    const { job, signal } = held
    const context: JobContext = {
      tenant,
      store: documents.store,
      job,
      isRepeat: job.attemptsStarted > 1,
      signal,
      progress: (progress, writes) => held.change({ kind: 'progress', progress }, writes),
      breathe: () => timers.breathe(),
      children: () => documents.children(job.id),
    }
    try {
      return await handler.run(context)
    } catch (error) {
      return isClosed(error) || this.#isStopped ? { kind: 'released' } : { kind: 'attempt-failed', error }
    }
  }

  async #settle(held: HeldJob, outcome: JobOutcome | FailedAttempt): Promise<void> {
    if (held.isLost) return
    const { documents } = this.#parts.queue
    const ending = documents.ending(held.job)
    switch (outcome.kind) {
      case 'completed': {
        const { result, progress, writes } = outcome
        return held.change({ kind: 'complete', result, progress, ...ending }, writes)
      }
      case 'failed':
        return held.change({ kind: 'fail', reason: outcome.reason, ...ending })
      case 'waiting-children':
        return this.#addChildren(held, outcome.children)
      case 'released':
        return this.#release(held)
      case 'attempt-failed':
        return this.#attemptFailed(held, outcome.error)
    }
  }

  async #release(held: HeldJob): Promise<void> {
    if (this.#isStopped) return held.change({ kind: 'release' })
    const { ms } = await this.#parts.queue.documents.store.now()
    return held.change({ kind: 'postpone', dueTime: ms + AGAIN_MS })
  }

  async #attemptFailed(held: HeldJob, error: unknown): Promise<void> {
    const { handler, queue, timers } = this.#parts
    const { documents } = queue
    const { attempts = 1, backoff = BACKOFF } = handler
    const { attemptsMade } = held.job
    const reason = reasonOf(error)
    if (attemptsMade + 1 >= attempts) {
      this.#say('error', held, `it failed: ${reason}`)
      return held.change({ kind: 'fail', reason, ...documents.ending(held.job) })
    }
    const most = Math.min(backoff.most, backoff.delay * 2 ** attemptsMade)
    // spread, so that what failed together is not tried again together
    const pause = Math.ceil(most * (0.5 + timers.random() / 2))
    this.#say('warn', held, `${reason}; it is tried again in ${pause} ms`)
    const { ms } = await documents.store.now()
    return held.change({ kind: 'retry', dueTime: ms + pause, reason })
  }

  async #addChildren(held: HeldJob, children: Extract<JobOutcome, { kind: 'waiting-children' }>['children']) {
    const { queue } = this.#parts
    const { id, ancestors } = held.job
    const below = [...ancestors, id]
    const added: AddedJobs[] = []
    for (const child of children) added.push(await queue.adding(child, below))
    const jobs = added.flatMap((one) => one.jobs)
    const inTree = await queue.documents.jobs.count([{ field: 'ancestors', op: 'eq', value: below[0] ?? id }])
    if (inTree + jobs.length >= MOST_IN_TREE) {
      throw new AppError('VALIDATION', `its tree would have more than ${MOST_IN_TREE} jobs; make several trees`)
    }
    const writes = added.flatMap((one) => one.writes)
    await held.change({ kind: 'wait-for-children', children: children.length }, writes)
    for (const one of added) queue.added(one)
  }

  #say(level: keyof JobsLogger, { job }: HeldJob, what: string): void {
    this.#parts.logger?.[level](`${job.type} job ${job.id} of tenant ${this.#parts.tenant}: ${what}`)
  }

  #wakeIn(ms: number): void {
    this.#cancelTimer()
    if (!this.#isStopped) this.#cancelTimer = this.#parts.timers.later(ms, this.#wake)
  }
}
