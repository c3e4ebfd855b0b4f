/** What a partition hears of resources of others: told in the store before a task is bound to them. */
import { type Partition, partitionOf } from '#cluster'
import { type Condition, type Store, walk, type Write } from '#storage'
import { LISTENER_CHANGES, LISTENERS, listenerId } from './relay-records.ts'

const PAGE = 1_000

export class Listening {
  readonly #store: Store
  readonly #partition: Partition
  /** resources of others that are told to be heard; true: since this was opened, or still needed */
  readonly #heard: Map<string, boolean>

  private constructor(store: Store, partition: Partition, heard: Map<string, boolean>) {
    this.#store = store
    this.#partition = partition
    this.#heard = heard
  }

  static async open(store: Store, partition: Partition): Promise<Listening> {
    const told = await toldBy(store, partition)
    return new Listening(store, partition, new Map(told.map((resource) => [resource, false])))
  }

  /** From when it resolves on, the partition is handed whatever is acknowledged of them. */
  async listen(resources: readonly string[]): Promise<void> {
    const { count, number } = this.#partition
    const fresh: string[] = []
    for (const resource of new Set(resources)) {
      if (this.#heard.has(resource)) this.#heard.set(resource, true)
      else if (partitionOf(resource, count) !== number) fresh.push(resource)
    }
    await this.#commit(fresh, 'putting')
    for (const resource of fresh) this.#heard.set(resource, true)
  }

  /** Ends what nobody has asked for since this was opened. */
  async sweep(): Promise<void> {
    const over = [...this.#heard].flatMap(([resource, isNeeded]) => (isNeeded ? [] : [resource]))
    // who asks for one of them meanwhile tells it anew, behind this
    for (const resource of over) this.#heard.delete(resource)
    await this.#commit(over, 'deleting')
  }

  /** All of it is asked for at once: what is asked for later comes behind it (STORE-6). */
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

async function toldBy(store: Store, { number, count }: Partition): Promise<readonly string[]> {
  const told: string[] = []
  const own: readonly Condition[] = [
    { field: 'by', op: 'eq', value: number },
    { field: 'count', op: 'eq', value: count },
  ]
  for await (const { value } of walk(store.collection(LISTENERS), own)) told.push(value.resource)
  return told
}
