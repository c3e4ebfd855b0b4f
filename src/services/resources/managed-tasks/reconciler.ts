/**
 * Keeps managed tasks in line with resources and types (RESOURCE-3 of the contract).
 *
 * MANAGED-1 the cursor passes a change of a resource once the resource's tasks are right, and a change of a type once
 *   its walk is stored
 * MANAGED-2 every pass reads the current store, and passes run one at a time, so repeating a pass is harmless
 * MANAGED-3 a task that could not be created is stored with the step that failed, and retried until it is created or no
 *   longer required
 */
import { AppError, KeyedMutex, type Semaphore, type Logger, messageOf, type StartTimer } from '#kernel'
import { type Collection, portionsOfIds, type Write } from '#storage'
import { machineTimers } from '#platform'
import type { ResourceCollections } from '../collections.ts'
import type { ManagedTasks } from '../contract.ts'
import { notedChange, type NotedChange } from './noted-change.ts'
import { type Existing, type Failure, isClosed, reconcile } from './reconcile.ts'
import { TypeWalks } from './type-walks.ts'
import { CURSOR, LACKING, type LackingResource, RECONCILER_CURSORS } from './reconciler-record.ts'

/** Time limit per call in ms. Calls usually take a few ms, even for many tasks. */
const LONGEST_MS = 30_000

/** `late`: called for a task created after the limit, when another may have been created in its place. */
function tasksInTime(tasks: ManagedTasks, later: StartTimer, late: (resource: string) => void): ManagedTasks {
  return {
    of: (resources) => inTime(tasks.of(resources), 'looked for', later),
    make: (wanted) => inTime(tasks.make(wanted), 'made', later, () => late(wanted.resource)),
    remove: (taskId) => inTime(tasks.remove(taskId), 'removed', later),
    rebind: async (resource) => {
      const bound = tasks.rebind?.(resource)
      if (bound !== undefined) await inTime(bound, 'bound again', later)
    },
  }
}

function inTime<T>(answer: Promise<T>, what: string, later: StartTimer, late?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false
    const end = later(LONGEST_MS, () => {
      isLate = true
      reject(new AppError('TIMED_OUT', `managed tasks were not ${what} within ${LONGEST_MS / 1000} s`))
    })
    answer.then(
      (value) => {
        end()
        resolve(value)
        if (isLate) late?.()
      },
      (error: unknown) => {
        end()
        reject(error)
      },
    )
  })
}

export interface ReconcilerDependencies {
  readonly collections: ResourceCollections
  readonly tasks: ManagedTasks
  readonly limit: Semaphore
  readonly now: () => number
  readonly newId: () => string
  readonly later: StartTimer
  readonly logger?: Logger | undefined
  /** resources of a type per slice; default 200 */
  readonly slice?: number | undefined
}

interface Reconciled {
  readonly writes: readonly Write[]
  readonly failures: readonly Failure[]
}

const CHUNK = 200
const PORTION = 500
const TRIMMED = 1000
/** ms between retries of failures */
const RETRY_MS = 60_000
const RETRIED = 200
/** Number of failures to probe before a large number is retried. */
const PROBED = 50

export class Reconciler {
  readonly #dependencies: ReconcilerDependencies
  readonly #cursors: Collection<{ readonly position: number }>
  readonly #lacking: Collection<LackingResource>
  readonly #lackingIds = new Set<string>()
  readonly #lanes = new KeyedMutex()
  readonly #walks: TypeWalks
  readonly #logged = new Set<string>()
  #position = 0
  #trimmed = 0
  #starting: Promise<void> | undefined
  #following: Promise<void> | undefined
  #retrying: Promise<void> | undefined
  #adopting: Promise<void> | undefined
  #isBehind = false
  /** whether a start was requested, successful or not */
  #isWoken = false
  #isStopped = false
  #left = 0
  #probed: string | undefined
  #cancelRetry: (() => void) | undefined

  constructor(dependencies: ReconcilerDependencies) {
    this.#dependencies = {
      ...dependencies,
      tasks: tasksInTime(dependencies.tasks, dependencies.later, (id) => this.#madeLate(id)),
    }
    this.#cursors = dependencies.collections.store.collection(RECONCILER_CURSORS)
    this.#lacking = dependencies.collections.store.collection(LACKING)
    this.#walks = new TypeWalks({
      ...dependencies,
      reconcile: (ids) => this.#reconcileAll(ids),
      rebind: (ids) => this.#rebind(ids),
    })
  }

  get waiting(): number {
    return this.#left + this.#lackingIds.size + this.#walks.left
  }

  operationOf(type: string): string | undefined {
    return this.#walks.operationOf(type)
  }

  async start(): Promise<void> {
    this.#isWoken = true
    await this.#started()
    this.wake()
  }

  #started(): Promise<void> {
    this.#starting ??= this.#start().catch((error: unknown) => {
      this.#starting = undefined
      throw error
    })
    return this.#starting
  }

  async #start(): Promise<void> {
    this.#position = (await this.#cursors.get(CURSOR))?.value.position ?? 0
    for await (const ids of portionsOfIds(this.#lacking)) for (const id of ids) this.#lackingIds.add(id)
    await this.#walks.adopt()
    this.retry()
  }

  wake(): void {
    // `start` reads the log anyway
    if (this.#isStopped || !this.#isWoken) return
    this.#isBehind = true
    if (this.#following !== undefined) return
    this.#following = this.#follow().finally(() => {
      this.#following = undefined
      if (this.#isBehind) this.wake()
    })
  }

  planned(): void {
    if (this.#isStopped) return
    this.#adopting = (this.#adopting ?? Promise.resolve())
      .then(() => this.#walks.adopt())
      .catch((error: unknown) => this.#interrupted(error))
  }

  retry(template?: string): void {
    if (this.#lackingIds.size > 0) this.#retrySoon(() => this.#retryAll(template === undefined ? {} : { template }))
  }

  async idle(): Promise<void> {
    for (;;) {
      const busy = this.#following ?? this.#adopting ?? this.#walks.busy ?? this.#retrying
      if (busy === undefined) return
      await busy
      if (busy === this.#retrying) this.#retrying = undefined
      if (busy === this.#adopting) this.#adopting = undefined
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#isBehind = false
    this.#cancelRetry?.()
    this.#walks.stop()
    await Promise.allSettled([this.#starting])
    await this.idle()
    await this.#lanes.idle()
  }

  async #follow(): Promise<void> {
    const log = this.#dependencies.collections.log
    this.#isBehind = false
    try {
      await this.#started()
      while (!this.#isStopped) {
        const entries = await log.read(this.#position, PORTION)
        const last = entries.at(-1)
        if (last === undefined || this.#isStopped) break
        await this.#take(
          entries.map(({ body }) => notedChange(body)),
          last.position,
        )
        await machineTimers.breathe()
      }
    } catch (error) {
      this.#interrupted(error)
    }
  }

  async #take(changes: readonly (NotedChange | undefined)[], position: number): Promise<void> {
    const [resources, bound, types, retried] = sorted(changes)
    const writes = resources.size === 0 ? [] : (await this.#reconcileAll([...resources])).writes
    await this.#rebind([...bound])
    const walks = await this.#walks.begin(types)
    // an interrupted step is incomplete, so its progress must not be stored
    if (this.#isStopped) return
    await this.#dependencies.collections.commit([...writes, ...walks, this.#cursors.putting(CURSOR, { position })])
    this.#position = position
    this.#walks.go()
    if (position - this.#trimmed >= TRIMMED) {
      await this.#dependencies.collections.log.trim(position)
      this.#trimmed = position
    }
    for (const type of retried) if (!types.has(type)) await this.#retryAll({ type })
  }

  async #rebind(ids: readonly string[]): Promise<void> {
    const { tasks, limit } = this.#dependencies
    await Promise.all(ids.map((id) => limit.run(async () => this.#isStopped || tasks.rebind?.(id))))
  }

  async #reconcileAll(ids: readonly string[]): Promise<Reconciled> {
    const writes: Write[] = []
    const failures: Failure[] = []
    this.#left += ids.length
    let left = ids.length
    try {
      for (let from = 0; from < ids.length && !this.#isStopped; from += CHUNK) {
        const chunk = ids.slice(from, from + CHUNK)
        const done = await this.#lanes.run('', () => this.#reconcileSome(chunk))
        this.#left -= chunk.length
        left -= chunk.length
        writes.push(...done.writes)
        failures.push(...done.failures)
      }
      return { writes, failures }
    } finally {
      this.#left -= left
    }
  }

  /** Reconciles one chunk at a time, so that tasks do not change between looking and acting. */
  async #reconcileSome(ids: readonly string[]): Promise<Reconciled> {
    const { collections, tasks, limit } = this.#dependencies
    const existing = new Map<string, Existing[number][]>(ids.map((id) => [id, []]))
    for (const task of await tasks.of(ids)) existing.get(task.resource)?.push(task)
    const results = await Promise.allSettled(
      ids.map((id) =>
        limit.run(async () =>
          this.#isStopped ? undefined : reconcile(collections, tasks, id, existing.get(id) ?? []),
        ),
      ),
    )
    // store no progress if any part must be repeated
    for (const result of results) if (result.status === 'rejected') throw result.reason
    const writes: Write[] = []
    const failures: Failure[] = []
    for (const [i, result] of results.entries()) {
      if (result.status === 'rejected' || result.value === undefined) continue
      writes.push(...this.#note(ids[i] ?? '', result.value))
      failures.push(...result.value)
    }
    return { writes, failures }
  }

  #note(id: string, failures: readonly Failure[]): readonly Write[] {
    const [first] = failures
    if (first === undefined) {
      return this.#lackingIds.delete(id) ? [this.#lacking.deleting(id)] : []
    }
    this.#logFailure(first)
    this.#lackingIds.add(id)
    this.#retryLater()
    const templates = [...new Set(failures.map(({ templateName }) => templateName))]
    const { type, error } = first
    return [this.#lacking.putting(id, { type, templates, error, time: this.#dependencies.now() })]
  }

  /** Logs a failure only once for all resources of a type. */
  #logFailure({ type, templateName, error }: Failure): void {
    const text = `type ${type} requires tasks of template ${templateName}, which cannot be created: ${error}`
    if (this.#logged.has(text)) return
    if (this.#logged.size >= MAX_LOGGED) this.#logged.clear()
    this.#logged.add(text)
    this.#dependencies.logger?.warn(`${text}; retrying`)
  }

  /** Reconciles again after a task was created late, since a second task may exist. */
  #madeLate(id: string): void {
    this.#retrySoon(() => this.#retrySome([id]))
  }

  #retrySoon(work: () => Promise<void>): void {
    if (this.#isStopped) return
    const before = this.#retrying ?? Promise.resolve()
    this.#retrying = before.then(work).catch((error: unknown) => this.#interrupted(error))
  }

  async #retrySome(ids: readonly string[]): Promise<void> {
    const { writes } = await this.#reconcileAll(ids)
    if (writes.length > 0) await this.#dependencies.collections.commit(writes)
  }

  /** Retries some of the failures, and all of them once any retry succeeds. */
  async #probe(): Promise<void> {
    const after = this.#probed
    const ids = await this.#lacking.ids({ limit: PROBED, ...(after !== undefined && { afterId: after }) })
    if (this.#isStopped) return
    this.#probed = ids.length < PROBED ? undefined : ids.at(-1)
    const before = this.#lackingIds.size
    await this.#retrySome(ids)
    if (this.#lackingIds.size < before) await this.#retryAll({})
  }

  async #retryAll(of: { readonly type?: string; readonly template?: string }): Promise<void> {
    const where = Object.entries(of).map(([field, value]) => ({ field, op: 'eq', value }) as const)
    for await (const ids of portionsOfIds(this.#lacking, where, RETRIED)) {
      if (this.#isStopped) return
      await this.#retrySome(ids)
      await machineTimers.breathe()
    }
  }

  #retryLater(): void {
    if (this.#isStopped) return
    this.#cancelRetry ??= this.#dependencies.later(RETRY_MS, () => {
      this.#cancelRetry = undefined
      this.#retrySoon(() => this.#probe())
      this.wake()
    })
  }

  #interrupted(error: unknown): void {
    if (!isClosed(error)) {
      this.#dependencies.logger?.error(
        `the reconciliation of managed tasks was interrupted, retrying: ${messageOf(error)}`,
      )
    }
    this.#retryLater()
  }
}

function sorted(changes: readonly (NotedChange | undefined)[]) {
  const [resources, bound, retried] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const types = new Map<string, boolean>()
  for (const change of changes) {
    if (change?.kind === 'resource' && change.tasks) resources.add(change.id)
    if (change?.kind === 'resource' && change.nodes) bound.add(change.id)
    if (change?.kind === 'type') types.set(change.id, change.nodes || types.get(change.id) === true)
    if (change?.kind === 'retry') retried.add(change.id)
  }
  return [resources, bound, types, retried] as const
}

const MAX_LOGGED = 1000
