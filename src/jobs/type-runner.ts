/** Executes one tenant's jobs of one type. */
import { messageOf } from '#kernel'
import type { Stored, StoreTime } from '#storage'
import type { Job, JobHandler } from './contract.ts'
import { AGAIN_MS, BACKOFF, Execution, type ExecutionDependencies } from './execution.ts'
import { HeldJob, isClosed, LEASE_MS, leaseFrom } from './held-job.ts'

export interface TypeRunnerDependencies extends Omit<ExecutionDependencies, 'isStopped'> {
  readonly slots: Slots
}

const CONCURRENCY = 100
const PAGE = 100

/** Limits how many jobs of a type run at once on this host, across all tenants. */
export class Slots {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor({ concurrency = CONCURRENCY }: JobHandler) {
    this.#free = concurrency
  }

  /** Takes a slot. If none is free, returns false and calls `wake` when one becomes free. */
  take(wake: () => void): boolean {
    if (this.#free === 0) {
      this.#waiting.add(wake)
      return false
    }
    this.#free--
    return true
  }

  forget(wake: () => void): void {
    this.#waiting.delete(wake)
  }

  release(): void {
    this.#free++
    const [first] = this.#waiting
    if (first === undefined) return
    this.#waiting.delete(first)
    first()
  }
}

export class JobSlots {
  readonly #slots = new Map<string, Slots>()

  of(handler: JobHandler): Slots {
    const known = this.#slots.get(handler.type)
    if (known !== undefined) return known
    const made = new Slots(handler)
    this.#slots.set(handler.type, made)
    return made
  }
}

export class TypeRunner {
  readonly #dependencies: TypeRunnerDependencies
  readonly #running = new Map<string, { readonly held: HeldJob; readonly ended: Promise<void> }>()
  #isWoken = false
  #isStopped = false
  #looking: Promise<void> | undefined
  #cancelTimer: () => void = () => undefined
  #open = 0
  readonly #wake = (): void => this.wake()

  constructor(dependencies: TypeRunnerDependencies) {
    this.#dependencies = dependencies
  }

  get open(): number {
    return this.#open
  }

  wake(): void {
    if (this.#isStopped) return
    this.#isWoken = true
    this.#looking ??= this.#lookUntilIdle()
  }

  cancelled(id: string): void {
    this.#running.get(id)?.held.lose()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#dependencies.slots.forget(this.#wake)
    this.#cancelTimer()
    for (const { held } of this.#running.values()) held.stop()
    await this.idle()
  }

  async idle(): Promise<void> {
    for (let busy: readonly Promise<void>[]; (busy = this.#busy()).length > 0;) await Promise.all(busy)
  }

  #busy(): readonly Promise<void>[] {
    const running = [...this.#running.values()].map(({ ended }) => ended)
    return this.#looking === undefined ? running : [this.#looking, ...running]
  }

  async #lookUntilIdle(): Promise<void> {
    // let the response to the request be sent first
    await this.#dependencies.timers.breathe()
    try {
      while (this.#isWoken && !this.#isStopped) {
        this.#isWoken = false
        await this.#look()
      }
    } catch (error) {
      if (isClosed(error)) return
      const { tenant, handler, logger } = this.#dependencies
      logger?.error(
        `jobs of type ${handler.type} of tenant ${tenant} are stalled: ${messageOf(error)}; they are retried`,
      )
      this.#wakeIn(AGAIN_MS)
    } finally {
      // no await since the loop's last check, so no wake-up is lost
      this.#looking = undefined
    }
  }

  async #look(): Promise<void> {
    const { handler, queue } = this.#dependencies
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
    const { handler, queue, slots } = this.#dependencies
    const { documents } = queue
    const { type, isSerial = false } = handler
    while (!this.#isStopped) {
      const found = await documents.ready(type, isSerial ? 1 : PAGE)
      // after losing its lease, a job may still be running here
      const ready = found.filter(({ id }) => !this.#running.has(id))
      if (ready.length === 0) return
      const starting = this.#withSlots(ready)
      // all at once, so that the store batches their commits
      const taking = starting.map((one) => documents.take(one, leaseFrom(ms, session), isSerial))
      const taken = await Promise.allSettled(taking)
      for (const one of taken) {
        if (one.status === 'fulfilled' && typeof one.value === 'object') {
          this.#begin(new HeldJob(documents, one.value, this.#dependencies.timers))
        } else slots.release()
      }
      const failed = taken.find((one) => one.status === 'rejected')
      if (failed !== undefined) throw failed.reason
      const isTurn = !taken.some((one) => one.status === 'fulfilled' && one.value === 'not-its-turn')
      if (starting.length < ready.length || !isTurn) return
    }
  }

  #withSlots(ready: readonly Stored<Job>[]): readonly Stored<Job>[] {
    const { slots } = this.#dependencies
    const starting: Stored<Job>[] = []
    for (const one of ready) {
      if (this.#isStopped || !slots.take(this.#wake)) break
      starting.push(one)
    }
    return starting
  }

  /** `next`: when to poll again, by the clock of the store. */
  async #lookAtTimed(time: StoreTime): Promise<{ readonly isChanged: boolean; readonly next: number | undefined }> {
    const { handler, queue } = this.#dependencies
    const { documents } = queue
    let isChanged = false
    let next: number | undefined
    for (const one of await documents.timed(handler.type, this.#running.size + PAGE)) {
      const { state, dueTime, lease } = one.value
      if (this.#running.has(one.id)) continue
      const lookTime = dueTime ?? lease?.until ?? 0
      if (
        lookTime > time.ms &&
        !this.#waitsTooLong(one.value, time) &&
        (lease === undefined || lease.session === time.session)
      ) {
        next = Math.min(next ?? lookTime, lookTime)
        continue
      }
      const change =
        state === 'delayed'
          ? ({ kind: 'promote' } as const)
          : ({ kind: 'stall', ...documents.ending(one.value) } as const)
      // on a conflict, another host already made the change
      if (await documents.changeUnlessChanged(one, change)) isChanged = true
    }
    return { isChanged, next }
  }

  /** True when more time is left than the maximum allows, as after the store's clock was set back. */
  #waitsTooLong({ state, attemptsStarted, dueTime = 0, lease }: Job, { ms }: StoreTime): boolean {
    if (lease !== undefined) return lease.until - ms > 2 * LEASE_MS
    const { most } = this.#dependencies.handler.backoff ?? BACKOFF
    return state === 'delayed' && attemptsStarted > 0 && dueTime - ms > 2 * Math.max(most, AGAIN_MS)
  }

  #begin(held: HeldJob): void {
    const { id } = held.job
    const ended = new Execution(held, { ...this.#dependencies, isStopped: () => this.#isStopped }).run().finally(() => {
      held.release()
      this.#running.delete(id)
      this.#dependencies.slots.release()
      this.wake()
    })
    this.#running.set(id, { held, ended })
  }

  #wakeIn(ms: number): void {
    this.#cancelTimer()
    if (!this.#isStopped) this.#cancelTimer = this.#dependencies.timers.later(ms, this.#wake)
  }
}
