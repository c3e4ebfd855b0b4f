/**
 * Tracks which partitions listen to resources of this partition; commits with outdated listeners are repeated.
 *
 * LISTENERS-1 a message is committed with the listeners that the store has at that moment, or not at all
 * LISTENERS-2 repeated commits keep their order, also relative to commits requested meanwhile
 */
import { AppError, isStoreConflict } from '#kernel'
import type { Partition } from '#cluster'
import { type Condition, type Store, walk, type Write } from '#storage'
import { LISTENER_CHANGES, LISTENERS } from './relay-records.ts'

export interface CommitAttempt<T> {
  readonly committing: Promise<T>
  /** index of `unchanged` among the writes */
  readonly index: number
}

interface Waiting {
  readonly ticket: number
  attempt(unchanged: Write): void
  reject(error: unknown): void
}

export class Listeners {
  readonly #store: Store
  readonly #partition: Partition
  #byResource: ReadonlyMap<string, readonly number[]> = new Map()
  #unchanged: Write
  #tickets = 0
  #underWay = 0
  /** commits to repeat once the listeners have been read again */
  #waiting: Waiting[] | undefined

  private constructor(store: Store, partition: Partition) {
    this.#store = store
    this.#partition = partition
    this.#unchanged = store.collection(LISTENER_CHANGES).expecting(String(partition.number), 0)
  }

  static async open(store: Store, partition: Partition): Promise<Listeners> {
    const listeners = new Listeners(store, partition)
    try {
      await store.collection(LISTENER_CHANGES).put(String(partition.number), { by: -1 }, 'absent')
    } catch (error) {
      if (!isStoreConflict(error)) throw error
    }
    await listeners.#read()
    return listeners
  }

  of(resource: string): readonly number[] {
    return this.#byResource.get(resource) ?? NONE
  }

  /** `attempt` is called immediately if possible, and again after the listeners changed. */
  commit<T>(attempt: (unchanged: Write) => CommitAttempt<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        ticket: (this.#tickets += 1),
        attempt: (unchanged) => {
          const { committing, index } = attempt(unchanged)
          this.#underWay += 1
          committing.then(
            (result) => {
              this.#underWay -= 1
              resolve(result)
              this.#readOnceQuiet()
            },
            (error: unknown) => {
              this.#underWay -= 1
              if (isAt(error, index)) (this.#waiting ??= []).push(waiting)
              else reject(error)
              this.#readOnceQuiet()
            },
          )
        },
        reject,
      }
      if (this.#waiting === undefined) waiting.attempt(this.#unchanged)
      else this.#waiting.push(waiting)
    })
  }

  /** Waits until every commit in flight has failed, because they used outdated listeners; then reads the listeners. */
  #readOnceQuiet(): void {
    if (this.#waiting === undefined || this.#underWay > 0) return
    const goOn = (go: (waiting: Waiting) => void): void => {
      const all = (this.#waiting ?? []).sort((a, b) => a.ticket - b.ticket)
      this.#waiting = undefined
      all.forEach(go)
    }
    void this.#read().then(
      () => goOn((waiting) => waiting.attempt(this.#unchanged)),
      (error: unknown) => goOn((waiting) => waiting.reject(error)),
    )
  }

  async #read(): Promise<void> {
    const changes = this.#store.collection(LISTENER_CHANGES)
    const { number, count } = this.#partition
    // reads the version first, so that a listener added meanwhile invalidates it
    const version = (await changes.get(String(number)))?.version ?? 0
    const found = new Map<string, number[]>()
    const here: readonly Condition[] = [
      { field: 'home', op: 'eq', value: number },
      { field: 'count', op: 'eq', value: count },
    ]
    for await (const { value } of walk(this.#store.collection(LISTENERS), here)) {
      const known = found.get(value.resource)
      if (known === undefined) found.set(value.resource, [value.by])
      else known.push(value.by)
    }
    this.#byResource = found
    this.#unchanged = changes.expecting(String(number), version)
  }
}

const NONE: readonly number[] = []

function isAt(error: unknown, index: number): boolean {
  return error instanceof AppError && error.code === 'CONFLICT' && error.issues.some(({ path }) => path === `/${index}`)
}
