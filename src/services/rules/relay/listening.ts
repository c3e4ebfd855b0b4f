/** Stores which resources of other partitions this partition listens to, before a task is bound to them. */
import { type Partition, partitionOf } from '#cluster'
import { type Condition, type Store, walk, type Write } from '#storage'
import { LISTENER_CHANGES, LISTENERS, listenerId } from './relay-records.ts'

const PAGE = 1_000

export class Listening {
  readonly #store: Store
  readonly #partition: Partition
  /** true: requested since this object was opened */
  readonly #resources: Map<string, boolean>

  private constructor(store: Store, partition: Partition, resources: Map<string, boolean>) {
    this.#store = store
    this.#partition = partition
    this.#resources = resources
  }

  static async open(store: Store, partition: Partition): Promise<Listening> {
    const stored = await storedFor(store, partition)
    return new Listening(store, partition, new Map(stored.map((resource) => [resource, false])))
  }

  /** Starts to listen. Every message of the resources that is acknowledged afterwards will reach this partition. */
  async listen(resources: readonly string[]): Promise<void> {
    const { count, number } = this.#partition
    const fresh: string[] = []
    for (const resource of new Set(resources)) {
      if (this.#resources.has(resource)) this.#resources.set(resource, true)
      else if (partitionOf(resource, count) !== number) fresh.push(resource)
    }
    await this.#commit(fresh, 'putting')
    for (const resource of fresh) this.#resources.set(resource, true)
  }

  /** Stops listening to resources that were not requested since this object was opened. */
  async sweep(): Promise<void> {
    const over = [...this.#resources].flatMap(([resource, isNeeded]) => (isNeeded ? [] : [resource]))
    // a request made in the meantime stores the resource again, after this commit
    for (const resource of over) this.#resources.delete(resource)
    await this.#commit(over, 'deleting')
  }

  /** Starts all commits at once, so that later requests are committed after them (STORE-6). */
  async #commit(resources: readonly string[], how: 'putting' | 'deleting'): Promise<void> {
    const { count, number: by } = this.#partition
    const [listeners, changes] = [this.#store.collection(LISTENERS), this.#store.collection(LISTENER_CHANGES)]
    const committing: Promise<unknown>[] = []
    for (let at = 0; at < resources.length; at += PAGE) {
      const some = resources.slice(at, at + PAGE)
      const homes = new Set(some.map((resource) => partitionOf(resource, count)))
      const writes = some.map((resource): Write => {
        const id = listenerId(resource, this.#partition)
        if (how === 'deleting') return listeners.deleting(id)
        return listeners.putting(id, { resource, count, home: partitionOf(resource, count), by })
      })
      committing.push(
        this.#store.commit([...writes, ...[...homes].map((home) => changes.putting(String(home), { by }))]),
      )
    }
    await Promise.all(committing)
  }
}

async function storedFor(store: Store, { number, count }: Partition): Promise<readonly string[]> {
  const stored: string[] = []
  const ofPartition: readonly Condition[] = [
    { field: 'by', op: 'eq', value: number },
    { field: 'count', op: 'eq', value: count },
  ]
  for await (const { value } of walk(store.collection(LISTENERS), ofPartition)) stored.push(value.resource)
  return stored
}
