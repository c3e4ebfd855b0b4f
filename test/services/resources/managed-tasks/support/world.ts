/** Provides documents, their log and tasks, which survive the reconciler that uses them. */
import { AppError } from '../../../../../src/kernel/errors.ts'
import type { Json } from '../../../../../src/kernel/json.ts'
import { Semaphore } from '../../../../../src/kernel/semaphore.ts'
import { openCollections } from '../../../../../src/services/resources/collections.ts'
import type { ResourceEntity } from '../../../../../src/services/resources/contract.ts'
import { Reconciler } from '../../../../../src/services/resources/managed-tasks/reconciler.ts'
import { wantedTasks } from '../../../../../src/services/resources/managed-tasks/reconcile.ts'
import type { Storage, Store, Write } from '../../../../../src/storage/contract.ts'
import { openMemory } from '../../../../../src/storage/memory/open-memory.ts'
import { KeptTasks } from './kept-tasks.ts'
import { Mortal } from '../../commands/support/mortal.ts'
import { withCommit } from '../../../rules/durable/support/slow-store.ts'

export const TENANT = 'acme'

export class World {
  readonly storage: Storage = openMemory()
  readonly tasks = new KeptTasks()
  readonly log: string[] = []
  readonly resources = new Map<string, ResourceEntity>()
  readonly types = new Map<string, ResourceEntity>()
  /** Whether the store rejects these writes of the reconciler */
  refuses: (writes: readonly Write[]) => boolean = () => false
  readonly #books = openCollections(TENANT, this.storage.tenant(TENANT))
  readonly #timers = new Set<() => void>()
  life = new Mortal()
  upkeep: Reconciler = this.#upkeep()
  #ids = 0

  /** Starts another life; the previous one ends. */
  async again(): Promise<void> {
    this.life.kill()
    this.#timers.clear()
    this.life = new Mortal()
    this.upkeep = this.#upkeep()
    await this.upkeep.start()
  }

  async write(kind: 'resource' | 'resourcetype', id: string, attributes: Record<string, Json> | undefined) {
    const known = kind === 'resource' ? this.resources : this.types
    const before = known.get(id)
    if (before === undefined && attributes === undefined) return
    const own = attributes && { id, ...attributes }
    if (own === undefined) known.delete(id)
    else known.set(id, own)
    const { resources, types, log } = this.#books
    const oldValues = before && own && changed(before, own)
    const event = {
      type: before === undefined ? 'create' : own === undefined ? 'delete' : 'update',
      objectType: kind,
      timestamp: 0,
      [kind]: own ?? before,
      ...(oldValues && { oldValues }),
    }
    await this.#books.commit([
      kind === 'resource'
        ? own === undefined
          ? resources.deleting(id)
          : resources.putting(id, { own })
        : own === undefined
          ? types.deleting(id)
          : types.putting(id, { own, constraints: [], mark: 0 }),
      log.appending([event]),
    ])
    this.upkeep.wake()
  }

  /** Fires all pending timers. */
  ring(): void {
    const due = [...this.#timers]
    this.#timers.clear()
    for (const work of due) work()
  }

  /** `resource key` of each task that should exist. */
  get wanted(): readonly string[] {
    const all = [...this.resources.values()].flatMap((resource) => {
      const type = resource['resourceTypeId']
      return wantedTasks(resource, typeof type === 'string' ? this.types.get(type) : undefined)
    })
    return all.map(({ resource, key }) => `${resource} ${key}`).toSorted()
  }

  #upkeep(): Reconciler {
    const { life } = this
    const tenant = (id: string): Store => {
      const store = this.storage.tenant(id)
      return withCommit(store, async (writes) => {
        if (this.refuses(writes)) throw new AppError('UNAVAILABLE', 'the store is unavailable')
        return store.commit(writes)
      })
    }
    const storage = life.over({ ...this.storage, tenant })
    return new Reconciler({
      collections: openCollections(TENANT, storage.tenant(TENANT)),
      limit: new Semaphore(64),
      tasks: life.over(this.tasks),
      now: () => 0,
      slice: 2,
      newId: () => `op${this.#ids++}`,
      later: (_ms, work) => {
        if (!life.isDead) this.#timers.add(work)
        return () => this.#timers.delete(work)
      },
      logger: { warn: (text) => void this.log.push(text), error: (text) => void this.log.push(text) },
    })
  }
}

function changed(before: ResourceEntity, after: ResourceEntity): Record<string, Json> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const others = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  return Object.fromEntries(others.map((name) => [name, before[name] ?? null]))
}
