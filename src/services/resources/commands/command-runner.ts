/**
 * Accepts commands of resources from the broker, and executes them.
 *
 * COMMAND-1 a committed command is executed at least once, always under the same id, even after a crash
 * COMMAND-2 commands of one resource are executed one after another, in order of arrival
 * COMMAND-3 a slow actuator delays only its own resource, while fewer than 200 are slow
 * COMMAND-4 a command has the rights of who stored it with the resource or its type
 */
import type { CommandOutbox } from '#services/broker/contract'
import { AppError, isStoreConflict, type Json, type Logger, messageOf, type Rights, type StartTimer } from '#kernel'
import type { Store, Stored, StoreTime, Write } from '#storage'
import type { ActuatorCall, ResourceEntity } from '../contract.ts'
import { COMMAND_JOBS, COMMAND_LOG, type CommandJob, type CommandRecord, oldCommands } from './command-log.ts'
import { planCall } from './plan-call.ts'

export interface CommandRunnerDependencies {
  readonly store: Store
  readonly actuators: ActuatorCall
  lookup(id: string): ResourceEntity | undefined | Promise<ResourceEntity | undefined>
  /** Returns the rights of who stored the commands of a resource; undefined: all rights. */
  rightsOf(resource: string): Promise<Rights | undefined>
  readonly now: () => number
  readonly newId: () => string
  readonly later: StartTimer
  readonly logger?: Logger | undefined
}

interface Lane {
  readonly resource: string
  isAgain: boolean
}

const MOST = 200
const LEASE_MS = 15_000
/** ms before retrying after an outage */
const PAUSE_MS = 2000
const TURN = 10
/** Number of commands of a resource between two trims of its execution log. */
const TIDY = 100

export class CommandRunner implements CommandOutbox {
  readonly #dependencies: CommandRunnerDependencies
  readonly #store: Store
  readonly #owner: string
  readonly #waiting = new Map<string, Lane>()
  readonly #working = new Map<string, { readonly lane: Lane; readonly done: Promise<void> }>()
  #isRunning = false
  #carriedOut = 0
  #last = 0
  #count = 0

  constructor(dependencies: CommandRunnerDependencies) {
    this.#dependencies = dependencies
    this.#store = dependencies.store
    this.#owner = dependencies.newId()
  }

  async start(): Promise<void> {
    this.#isRunning = true
    for (const id of await newestIds(this.#store)) this.#goOnAfter(id)
    const waiting = await this.#store.collection(COMMAND_JOBS).countBy('resource')
    for (const resource of waiting.keys()) this.#wake(resource)
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    this.#waiting.clear()
    await this.idle()
  }

  async idle(): Promise<void> {
    while (this.#working.size > 0) await Promise.all([...this.#working.values()].map(({ done }) => done))
  }

  planning(resource: string, command: Readonly<Record<string, Json>>, hops: number, root?: string): readonly Write[] {
    const job = { resource, command, hops, ...(root !== undefined && { root }) }
    return [this.#store.collection(COMMAND_JOBS).putting(this.#nextId(), job)]
  }

  committed(resource: string): void {
    this.#wake(resource)
  }

  #wake(resource: string): void {
    // `start` finds all queued commands anyway
    if (!this.#isRunning) return
    const working = this.#working.get(resource)
    if (working !== undefined) working.lane.isAgain = true
    else if (!this.#waiting.has(resource)) this.#waiting.set(resource, { resource, isAgain: false })
    this.#fill()
  }

  #fill(): void {
    for (const [resource, lane] of this.#waiting) {
      if (this.#working.size >= MOST) return
      this.#waiting.delete(resource)
      const done = this.#look(lane).finally(() => {
        this.#working.delete(resource)
        if (lane.isAgain) this.#wake(resource)
        else this.#fill()
      })
      this.#working.set(resource, { lane, done })
    }
  }

  async #look(lane: Lane): Promise<void> {
    const { resource } = lane
    try {
      for (let turn = 0; this.#isRunning; turn++) {
        lane.isAgain = turn === TURN
        if (lane.isAgain) return
        const job = await this.#oldest(lane)
        if (job === undefined) return
        const claimed = await this.#claim(lane, job)
        if (claimed === undefined) return
        await this.#carryOut(lane, claimed)
      }
    } catch (error) {
      if (!isAway(error)) {
        this.#dependencies.logger?.error(
          `commands of resource ${resource} were interrupted, retrying: ${messageOf(error)}`,
        )
      }
      this.#lookLater(resource, PAUSE_MS)
    }
  }

  async #oldest({ resource }: Lane): Promise<Stored<CommandJob> | undefined> {
    const where = [{ field: 'resource', op: 'eq', value: resource }] as const
    const [oldest] = await this.#store.collection(COMMAND_JOBS).find({ where, limit: 1 })
    return oldest
  }

  async #claim({ resource }: Lane, job: Stored<CommandJob>): Promise<Stored<CommandJob> | undefined> {
    const { lease } = job.value
    const time = await this.#store.now()
    const isHeld = lease !== undefined && lease.owner !== this.#owner && lease.session === time.session
    if (isHeld && lease.until > time.ms) {
      this.#lookLater(resource, lease.until - time.ms)
      return undefined
    }
    try {
      return await this.#lease(job, time)
    } catch (error) {
      if (!isStoreConflict(error)) throw error
      this.#lookLater(resource, PAUSE_MS)
      return undefined
    }
  }

  async #lease({ id, version, value }: Stored<CommandJob>, { ms, session }: StoreTime): Promise<Stored<CommandJob>> {
    const leased = {
      ...value,
      lease: { owner: this.#owner, until: ms + LEASE_MS, ...(session !== undefined && { session }) },
    }
    return { id, value: leased, version: await this.#store.collection(COMMAND_JOBS).put(id, leased, version) }
  }

  async #carryOut({ resource }: Lane, job: Stored<CommandJob>): Promise<void> {
    const release = this.#keepLease(job)
    try {
      const shown = await this.#execute(job)
      const tidying = ++this.#carriedOut % TIDY === 0 ? await oldCommands(this.#store, resource) : []
      await release()
      await this.#store.commit([
        ...tidying,
        this.#store.collection(COMMAND_JOBS).deleting(job.id),
        this.#store.collection(COMMAND_LOG).putting(job.id, { resource, order: job.id, shown }),
      ])
    } finally {
      await release()
    }
  }

  /** Renews the lease until the returned function is called, which waits for a renewal in progress. */
  #keepLease(job: Stored<CommandJob>): () => Promise<void> {
    let renewing: Promise<unknown> = Promise.resolve()
    let isReleased = false
    let held = job
    let cancel: () => void = () => undefined
    const wait = (): void => {
      cancel = this.#dependencies.later(LEASE_MS / 3, () => {
        renewing = this.#store
          .now()
          .then((time) => this.#lease(held, time))
          .then((leased) => (held = leased))
          // the lease is lost; the process that finishes first stores the result, under the same id
          .catch(() => (isReleased = true))
          .finally(() => {
            if (!isReleased) wait()
          })
      })
    }
    wait()
    return async () => {
      isReleased = true
      cancel()
      await renewing
    }
  }

  async #execute({ id, value }: Stored<CommandJob>): Promise<CommandRecord['shown']> {
    const { now, actuators, rightsOf } = this.#dependencies
    const { resource, command, hops, root } = value
    const causation = { hops, ...(root !== undefined && { root }) }
    const name = typeof command['name'] === 'string' ? command['name'] : ''
    const head = { name, executionTime: new Date(now()).toISOString() }
    try {
      const planned = planCall(resource, await this.#dependencies.lookup(resource), command)
      if ('errorMessage' in planned) return { ...head, ...planned }
      const rights = await rightsOf(resource)
      const call = { ...planned, resource, ...causation, id, ...(rights && { rights }) }
      const { version, ...result } = await actuators.run(call)
      return { ...head, actuator: `${planned.name}:${version}`, result }
    } catch (error) {
      if (isAway(error)) throw error
      return { ...head, errorMessage: messageOf(error) }
    }
  }

  #lookLater(resource: string, ms: number): void {
    if (this.#isRunning) this.#dependencies.later(ms, () => this.#wake(resource))
  }

  #goOnAfter(id: string): void {
    const [last = Number.NaN, count = Number.NaN] = id.split('-', 2).map(Number)
    if (!(last >= this.#last)) return
    this.#count = last > this.#last ? count : Math.max(count, this.#count)
    this.#last = last
  }

  /** Makes ids that ascend as text, even if the clock is set back. */
  #nextId(): string {
    const { now, newId } = this.#dependencies
    const time = Math.max(this.#last, now())
    this.#count = time === this.#last ? this.#count + 1 : 0
    this.#last = time
    return `${String(time).padStart(15, '0')}-${String(this.#count).padStart(9, '0')}-${newId()}`
  }
}

async function newestIds(store: Store): Promise<readonly string[]> {
  const last = { sort: [{ field: 'id', descending: true }], limit: 1 }
  const [waiting, done] = await Promise.all([
    store.collection(COMMAND_JOBS).ids(last),
    store.collection(COMMAND_LOG).ids(last),
  ])
  return [...waiting, ...done]
}

function isAway(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'CLOSED' || error.code === 'UNAVAILABLE')
}
