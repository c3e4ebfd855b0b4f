/**
 * Which partitions hear resources of this one. Commits of messages hang on it: when somebody begins to listen, those
 * that are on their way are refused by the store, the listeners are read again, and the same are committed anew.
 *
 * LISTENERS-1 a message is committed with what was known of its listeners at that moment of the store, or not at all
 * LISTENERS-2 commits that are made anew keep their order, also among those that came meanwhile
 */
import { AppError } from '../../../kernel/errors.ts'
import type { Partition } from '../../../partitions/partition.ts'
import type { Store, Write } from '../../../storage/contract.ts'
import { GATES, LISTENERS } from './relay-records.ts'

export interface Attempt<T> {
  readonly committing: Promise<T>
  /** of the gate among its writes */
  readonly place: number
}

interface Waiting {
  readonly ticket: number
  attempt(gate: Write): void
  reject(error: unknown): void
}

const PAGE = 1_000

export class Listeners {
  readonly #store: Store
  readonly #partition: Partition
  #byResource: ReadonlyMap<string, readonly number[]> = new Map()
  #gate: Write
  #tickets = 0
  /** commits on their way */
  #underWay = 0
  /** those that wait until the listeners were read again */
  #waiting: Waiting[] | undefined

  private constructor(store: Store, partition: Partition) {
    this.#store = store
    this.#partition = partition
    this.#gate = store.collection(GATES).expecting(String(partition.number), 0)
  }

  static async open(store: Store, partition: Partition): Promise<Listeners> {
    const listeners = new Listeners(store, partition)
    try {
      await store.collection(GATES).put(String(partition.number), { by: -1 }, 'absent')
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'CONFLICT') throw error
    }
    await listeners.#read()
    return listeners
  }

  /** Partitions that hear the resource, as it was read last. */
  of(resource: string): readonly number[] {
    return this.#byResource.get(resource) ?? NOBODY
  }

  /** Commits on what is known: `attempt` asks `of`, and is called again when that was not right any more. It is called at once when it can be. */
  commit<T>(attempt: (gate: Write) => Attempt<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        ticket: (this.#tickets += 1),
        attempt: (gate) => {
          const { committing, place } = attempt(gate)
          this.#underWay += 1
          committing.then(
            (result) => {
              this.#underWay -= 1
              resolve(result)
              this.#readOnceQuiet()
            },
            (error: unknown) => {
              this.#underWay -= 1
              if (isAt(error, place)) (this.#waiting ??= []).push(waiting)
              else reject(error)
              this.#readOnceQuiet()
            },
          )
        },
        reject,
      }
      if (this.#waiting === undefined) waiting.attempt(this.#gate)
      else this.#waiting.push(waiting)
    })
  }

  /** What is on its way was sent on what is not true any more: all of it comes back first. */
  #readOnceQuiet(): void {
    if (this.#waiting === undefined || this.#underWay > 0) return
    const goOn = (go: (waiting: Waiting) => void): void => {
      const all = (this.#waiting ?? []).sort((a, b) => a.ticket - b.ticket)
      this.#waiting = undefined
      all.forEach(go)
    }
    void this.#read().then(
      () => goOn((waiting) => waiting.attempt(this.#gate)),
      (error: unknown) => goOn((waiting) => waiting.reject(error)),
    )
  }

  async #read(): Promise<void> {
    const gates = this.#store.collection(GATES)
    const { number, count } = this.#partition
    // its version first: who listens later changes it
    const version = (await gates.get(String(number)))?.version ?? 0
    const found = new Map<string, number[]>()
    for (let afterId: string | undefined; ;) {
      const page = await this.#store.collection(LISTENERS).find({
        where: [
          { field: 'home', op: 'eq', value: number },
          { field: 'count', op: 'eq', value: count },
        ],
        limit: PAGE,
        ...(afterId !== undefined && { afterId }),
      })
      for (const { resource, by } of page.map(({ value }) => value)) {
        const known = found.get(resource)
        if (known === undefined) found.set(resource, [by])
        else known.push(by)
      }
      afterId = page.at(-1)?.id
      if (page.length < PAGE || afterId === undefined) break
    }
    this.#byResource = found
    this.#gate = gates.expecting(String(number), version)
  }
}

const NOBODY: readonly number[] = []

function isAt(error: unknown, place: number): boolean {
  return error instanceof AppError && error.code === 'CONFLICT' && error.issues.some(({ path }) => path === `/${place}`)
}
