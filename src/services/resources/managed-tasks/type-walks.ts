/** Walks the resources of types whose templates changed, in stored slices; a crash repeats at most one. */
import { type Logger, messageOf, type StartTimer } from '#kernel'
import type { Collection, CollectionSpec, Condition, Write } from '#storage'
import { machineTimers } from '#platform'
import type { ResourceCollections } from '../collections.ts'
import { isClosed, type Failure } from './reconcile.ts'

/** A stored operation on all resources of a type. Operations on listed ids are jobs instead. */
export interface WalkOperation {
  readonly id: string
  readonly user: string
  readonly operation: { readonly entity: string; readonly action: string; readonly description: string }
  readonly queueTime: number
  readonly finishedTime?: number
  readonly type: string
  readonly binds?: boolean
  readonly after?: string
  readonly done: number
  readonly total: number
  readonly failed?: Readonly<Record<string, { readonly error: string; readonly count: number }>>
}

export const OPERATIONS: CollectionSpec<WalkOperation> = {
  name: 'resource_operations',
  version: 1,
  fields: {
    state: { type: 'text', of: ({ finishedTime }) => (finishedTime === undefined ? 'open-walk' : 'finished') },
    type: { type: 'text', of: ({ type }) => type },
    queueTime: { type: 'number', of: ({ queueTime }) => queueTime },
    finishedTime: { type: 'number', of: ({ finishedTime }) => finishedTime },
  },
}

export interface WalkDependencies {
  readonly collections: ResourceCollections
  readonly now: () => number
  readonly newId: () => string
  readonly later: StartTimer
  readonly logger?: Logger | undefined
  readonly slice?: number | undefined
  rebind(ids: readonly string[]): Promise<void>
  reconcile(
    ids: readonly string[],
  ): Promise<{ readonly writes: readonly Write[]; readonly failures: readonly Failure[] }>
}

interface Walk {
  record: WalkOperation
  round: number
  going: Promise<void> | undefined
}

const SLICE = 200
const RETRY_MS = 1000
/** ms between polls of a type that another process works on */
const BUSY_MS = 100
/** User of operations that no request caused. */
const ENGINE = 'system/engine'

export class TypeWalks {
  readonly #dependencies: WalkDependencies
  readonly #operations: Collection<WalkOperation>
  readonly #walks = new Map<string, Walk>()
  readonly #ending = new Set<string>()
  #isStopped = false

  constructor(dependencies: WalkDependencies) {
    this.#dependencies = dependencies
    this.#operations = dependencies.collections.store.collection(OPERATIONS)
  }

  get left(): number {
    let count = 0
    for (const { record } of this.#walks.values()) count += Math.max(0, record.total - record.done)
    return count
  }

  get busy(): Promise<void> | undefined {
    for (const { going } of this.#walks.values()) if (going !== undefined) return going
    return undefined
  }

  operationOf(type: string): string | undefined {
    return this.#walks.get(type)?.record.id
  }

  async adopt(): Promise<void> {
    const open = await this.#operations.find({ where: [{ field: 'state', op: 'eq', value: 'open-walk' }] })
    for (const { value } of open) {
      const total = value.after === undefined ? await this.#countOf(value.type) : value.total
      if (this.#walks.has(value.type) || this.#ending.has(value.id)) continue
      this.#add({ ...value, total })
    }
    this.go()
  }

  /** Call `go` after committing these writes; a value in `types` says whether to rebind nodes. */
  async begin(types: ReadonlyMap<string, boolean>): Promise<readonly Write[]> {
    const planned: { readonly type: string; readonly total: number; readonly stored: WalkOperation | undefined }[] = []
    for (const type of types.keys()) {
      const total = await this.#countOf(type)
      planned.push({ type, total, stored: this.#walks.has(type) ? undefined : await this.#planned(type) })
    }
    // do not await anything after this point, since concurrent walks must not be overwritten
    return planned.map(({ type, total, stored }) => {
      const walk = this.#walks.get(type) ?? this.#add(stored ?? this.#fresh(type, total))
      const { after: _after, failed: _failed, ...record } = walk.record
      walk.round++
      const binds = types.get(type) === true || record.binds === true
      walk.record = { ...record, done: 0, total, ...(binds && { binds }) }
      return this.#operations.putting(record.id, walk.record)
    })
  }

  go(): void {
    for (const walk of this.#walks.values()) {
      if (this.#isStopped) return
      walk.going ??= this.#walk(walk).finally(() => (walk.going = undefined))
    }
  }

  stop(): void {
    this.#isStopped = true
  }

  #countOf(type: string): Promise<number> {
    return this.#dependencies.collections.resources.count([{ field: 'resourceTypeId', op: 'eq', value: type }])
  }

  #add(record: WalkOperation): Walk {
    const walk = { record, round: 0, going: undefined }
    this.#walks.set(record.type, walk)
    return walk
  }

  async #planned(type: string): Promise<WalkOperation | undefined> {
    const found = await this.#operations.find({ where: openOf(type) })
    for (const { value } of found) if (!this.#ending.has(value.id)) return value
    return undefined
  }

  #fresh(type: string, total: number): WalkOperation {
    return plannedWalk(this.#dependencies.newId(), type, ENGINE, this.#dependencies.now(), total)
  }

  async #walk(walk: Walk): Promise<void> {
    const { collections, reconcile, rebind, now, later, slice = SLICE } = this.#dependencies
    try {
      while (!this.#isStopped) {
        const { round, record: before } = walk
        const { id, type, after, binds } = before
        const where = [{ field: 'resourceTypeId', op: 'eq', value: type }] as const
        const ids = await collections.resources.ids({
          where,
          limit: slice,
          ...(after !== undefined && { afterId: after }),
        })
        const { writes, failures } = await reconcile(ids)
        if (binds === true) await rebind(ids)
        if (this.#isStopped) return
        if (walk.round !== round) {
          if (writes.length > 0) await collections.commit(writes)
          continue
        }
        const last = ids.at(-1)
        const done = walk.record.done + ids.length
        const isLast = last === undefined || ids.length < slice
        const isBusy = isLast && (await collections.types.get(type))?.value.operation === id
        const isOver = isLast && !isBusy
        const others = isOver ? await this.#others(walk.record) : []
        if (walk.round !== round) continue
        const failed = withFailures(walk.record.failed, failures)
        walk.record = {
          ...walk.record,
          done,
          total: isLast ? done : Math.max(done, walk.record.total),
          ...(last !== undefined && { after: last }),
          ...(failed && { failed }),
          ...(isOver && { finishedTime: now() }),
        }
        if (isOver) this.#leave(walk)
        const ended = others.map((other) => this.#operations.putting(other, { ...walk.record, id: other }))
        try {
          await collections.commit([...writes, ...ended, this.#operations.putting(id, walk.record)])
        } catch (error) {
          this.#goBack(walk, round, before)
          throw error
        }
        this.#ending.delete(id)
        if (isOver) return
        if (isBusy) return void later(BUSY_MS, () => this.go())
        await machineTimers.breathe()
      }
    } catch (error) {
      this.#interrupted(walk, error)
    }
  }

  async #others({ id, type }: WalkOperation): Promise<readonly string[]> {
    const open = await this.#operations.ids({ where: openOf(type) })
    return open.filter((other) => other !== id)
  }

  #leave({ record }: Walk): void {
    this.#ending.add(record.id)
    this.#walks.delete(record.type)
  }

  /** Repeats an unstored slice, since its failures were not recorded. */
  #goBack(walk: Walk, round: number, before: WalkOperation): void {
    if (walk.round === round) walk.record = before
    this.#ending.delete(before.id)
    if (!this.#walks.has(before.type)) this.#walks.set(before.type, walk)
  }

  #interrupted({ record }: Walk, error: unknown): void {
    if (this.#isStopped) return
    if (!isClosed(error)) {
      this.#dependencies.logger?.error(
        `operation ${record.id} over the resources of type ${record.type} was interrupted, retrying: ${messageOf(error)}`,
      )
    }
    this.#dependencies.later(RETRY_MS, () => this.go())
  }
}

export function plannedWalk(id: string, type: string, user: string, now: number, total: number): WalkOperation {
  const operation = { entity: 'resourcetype', action: 'update', description: `updating resources of type ${type}` }
  return { id, user, operation, queueTime: now, type, done: 0, total }
}

function openOf(type: string): readonly Condition[] {
  return [
    { field: 'state', op: 'eq', value: 'open-walk' },
    { field: 'type', op: 'eq', value: type },
  ]
}

const MAX_FAILED = 100

function withFailures(before: WalkOperation['failed'], failures: readonly Failure[]): WalkOperation['failed'] {
  if (failures.length === 0) return before
  const all = new Map(Object.entries(before ?? {}))
  for (const { templateName, error } of failures) {
    const known = all.get(templateName)
    if (known === undefined && all.size >= MAX_FAILED) continue
    all.set(templateName, { error: known?.error ?? error, count: (known?.count ?? 0) + 1 })
  }
  return Object.fromEntries(all)
}
