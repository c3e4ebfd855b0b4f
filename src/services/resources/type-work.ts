/**
 * Works in the background after a change of a type: reindexes its resources, and checks new constraints.
 *
 * TYPEWORK-1 work is done in slices; the remaining work is derived from the stored resources, so that it continues
 *   after a crash
 * TYPEWORK-2 a newer change of the type takes over: the older operation ends, and leaves the newer values untouched
 * TYPEWORK-3 work that fails because the store is unavailable is retried until it is done
 */
import { isStoreConflict, KeyedMutex, type Logger, messageOf, type StartTimer } from '#kernel'
import { type Condition, portions, type Stored } from '#storage'
import { constraintsOf, failuresOf } from './constraints/enforcement.ts'
import { searchedOf, type ResourceRecord, writeBeats } from './resource-record.ts'
import { typeIdOf, type TenantResources } from './tenant-resources.ts'
import type { AppliedConstraint, TypeRecord } from './type-record.ts'

export interface TypeWorkDependencies {
  readonly later: StartTimer
  readonly logger?: Logger | undefined
}

/** ms between retries */
const RETRY_MS = 10_000
const SLICE = 200
/** Writes per commit. Kept small, because a conflict makes the whole commit fail. */
const PORTION = 50
const MAX_FAILING = 1_000
const MAX_ERRORS = 100

export class TypeWork {
  readonly #tenantResources: TenantResources
  readonly #dependencies: TypeWorkDependencies
  readonly #lanes = new KeyedMutex()
  readonly #retries = new Map<string, () => void>()
  #open = 0
  #stopped = false

  constructor(tenantResources: TenantResources, dependencies: TypeWorkDependencies) {
    this.#tenantResources = tenantResources
    this.#dependencies = dependencies
  }

  get open(): number {
    return this.#open
  }

  async resume(): Promise<void> {
    const ids = await this.#tenantResources.collections.types.ids({
      where: [{ field: 'operation', op: 'exists', value: true }],
      limit: 10_000,
    })
    for (const id of ids) this.begin(id)
  }

  begin(typeId: string): void {
    if (this.#stopped) return
    this.#open += 1
    this.#lanes
      .run(typeId, () => this.#run(typeId))
      .catch((error: unknown) => {
        if (this.#stopped) return
        const { logger, later } = this.#dependencies
        const { tenant } = this.#tenantResources.collections
        logger?.warn('An operation on a resource type was interrupted; retrying', {
          tenant,
          type: typeId,
          error: messageOf(error),
        })
        this.#retries.get(typeId)?.()
        const again = (): void => {
          this.#retries.delete(typeId)
          this.begin(typeId)
        }
        this.#retries.set(typeId, later(RETRY_MS, again))
      })
      .finally(() => (this.#open -= 1))
      .catch(() => {})
  }

  /** Reindexes a resource that was written with a stale version of its type. */
  followUp(record: ResourceRecord): void {
    const id = typeIdOf(record)
    if (id === undefined) return
    const known = this.#tenantResources.types.peek(id)
    if (known === undefined) this.begin(id)
    else if (known.value !== undefined && known.value.mark !== record.typeMark) this.begin(id)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const cancel of this.#retries.values()) cancel()
    this.#retries.clear()
    await this.#lanes.idle()
  }

  async #run(typeId: string): Promise<void> {
    const stored = await this.#tenantResources.collections.types.get(typeId)
    if (stored === undefined) return
    const type = stored.value
    await this.#rewrite(typeId, type)
    const constraints = type.constraints.some(({ status }) => status === 'applying')
      ? await this.#hold(typeId, type)
      : type.constraints
    if (!this.#stopped && type.operation !== undefined) await this.#end(stored, constraints)
  }

  async #rewrite(typeId: string, type: TypeRecord): Promise<void> {
    const where: readonly Condition[] = [
      { field: 'resourceTypeId', op: 'eq', value: typeId },
      { field: 'typeMark', op: 'ne', value: type.mark },
    ]
    const inherited = searchedOf(type.own)
    // resources with a conflict are retried in the next pass
    for (let again = true; again && !this.#stopped;) {
      again = false
      for await (const slice of portions(this.#tenantResources.collections.resources, where, SLICE)) {
        if (this.#stopped || (await this.#isOutdated(typeId, type))) return
        again = true
        for (let at = 0; at < slice.length; at += PORTION) {
          await this.#rewriteSome(slice.slice(at, at + PORTION), inherited, type.mark)
        }
      }
    }
  }

  async #rewriteSome(
    slice: readonly Stored<ResourceRecord>[],
    inherited: ResourceRecord['inherited'],
    typeMark: number,
  ): Promise<void> {
    const { collections, resources } = this.#tenantResources
    const next = slice.map(({ value: { inherited: _before, ...record }, ...stored }) => ({
      ...stored,
      value: { ...record, ...(inherited && { inherited }), typeMark },
    }))
    await writeBeats(collections, next)
    for (const { id } of slice) resources.forget(id)
  }

  async #isOutdated(typeId: string, { mark }: TypeRecord): Promise<boolean> {
    return (await this.#tenantResources.types.get(typeId))?.mark !== mark
  }

  async #hold(typeId: string, type: TypeRecord): Promise<readonly AppliedConstraint[]> {
    const tenantResources = this.#tenantResources
    const constraints = await constraintsOf(tenantResources, type)
    const ofType = [{ field: 'resourceTypeId', op: 'eq', value: typeId }] as const
    const failed = new Map(constraints.map(({ id }) => [id, new Map<string, Failing>()]))
    for await (const slice of portions(tenantResources.collections.resources, ofType, SLICE)) {
      if (this.#stopped) return type.constraints
      for (const { value } of slice) {
        const shown = tenantResources.show(value, type)
        for (const { id, attributes } of constraints) {
          for (const { message, path } of await failuresOf(tenantResources, attributes, shown)) {
            addFailing(failed.get(id), message, path, value.own.id)
          }
        }
      }
    }
    return type.constraints.map(({ constraintId }): AppliedConstraint => {
      const errors = [...(failed.get(constraintId)?.values() ?? [])]
      return errors.length === 0 ? { constraintId, status: 'ineffect' } : { constraintId, status: 'failed', errors }
    })
  }

  /** If the type changed in the meantime, its constraints may be new to this run, which then checks again. */
  async #end({ id, value, version }: Stored<TypeRecord>, constraints: readonly AppliedConstraint[]): Promise<void> {
    const { types } = this.#tenantResources.collections
    const { operation: _done, ...record } = value
    try {
      await types.put(id, { ...record, constraints, beats: (record.beats ?? 0) + 1 }, version)
    } catch (error) {
      if (!isStoreConflict(error)) throw error
      this.begin(id)
    }
    this.#tenantResources.types.forget(id)
  }
}

interface Failing {
  readonly error: string
  readonly errorPath: string
  readonly resources: string[]
}

function addFailing(failing: Map<string, Failing> | undefined, error: string, errorPath: string, id: string): void {
  const key = `${errorPath}\n${error}`
  const known = failing?.get(key)
  if (known !== undefined) {
    if (known.resources.length < MAX_FAILING) known.resources.push(id)
  } else if (failing !== undefined && failing.size < MAX_ERRORS) {
    failing.set(key, { error, errorPath, resources: [id] })
  }
}
