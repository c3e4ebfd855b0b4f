/**
 * Deliveries of one tenant that have come to an end, between the ledger and the store. A run that goes on is played again
 * after a crash, and with it what follows from it; of one that is over nothing is, so that its deliveries are stored
 * with what ends it, or before anybody hears of them.
 */
import type { Store, Write } from '#storage'
import type { Checkpoints } from './checkpoints.ts'
import type { DeterministicEngine } from './deterministic-engine.ts'
import { DELIVERIES, deliveryId, MAX_DELIVERIES, newestOf, STATES, type DeliveryRecord } from './records.ts'

/** The first round of states may have begun before. */
const ROUNDS = 2

export class EndedDeliveries {
  readonly #store: Store
  readonly #deterministic: DeterministicEngine
  readonly #checkpoints: Pick<Checkpoints, 'flush'>

  constructor(store: Store, deterministic: DeterministicEngine, checkpoints: Pick<Checkpoints, 'flush'>) {
    this.#store = store
    this.#deterministic = deterministic
    this.#checkpoints = checkpoints
  }

  /** Those of a task that may not be stored yet, as writes that belong to the input that ends its run. */
  writes(id: string): readonly Write[] {
    const deliveries = this.#store.collection(DELIVERIES)
    return this.#fresh(id).map((one) => deliveries.putting(deliveryId(id, one.number), one))
  }

  /** The same to be listed; what only a run that is over has seen is stored first. */
  async listed(id: string): Promise<readonly DeliveryRecord[]> {
    const isOfRun = (one: DeliveryRecord): boolean => this.#deterministic.isOfRun(id, one.id)
    for (let round = 0; round < ROUNDS && !this.#fresh(id).every(isOfRun); round++) await this.#checkpoints.flush()
    return this.#fresh(id).filter(isOfRun)
  }

  /** Stores them after a run has ended by itself, before anybody hears of that; undefined: there is nothing to store. */
  store(id: string): Promise<void> | undefined {
    return this.#fresh(id).length === 0 ? undefined : this.#flushed(id)
  }

  /** How many of a task there are; none before its first epoch. */
  async count(id: string, epoch: number): Promise<number> {
    if (this.#deterministic.task(id) !== undefined) return this.#deterministic.ledger.count(id)
    if (epoch <= 1) return 0
    const state = await this.#store.collection(STATES).get(id)
    // the last of a run may be stored without the state that followed from it
    const last = await this.#store.collection(DELIVERIES).find(newestOf(id, 1))
    return Math.max(state?.value.delivered ?? 0, ...last.map(({ value }) => value.number + 1))
  }

  /** All that is stored of a task, to be deleted with it. */
  async forgetting(id: string): Promise<readonly Write[]> {
    const count = Math.min(MAX_DELIVERIES, await this.count(id, Number.POSITIVE_INFINITY))
    const deliveries = this.#store.collection(DELIVERIES)
    return Array.from({ length: count }, (_, number) => deliveries.deleting(deliveryId(id, number)))
  }

  async #flushed(id: string): Promise<void> {
    for (let round = 0; round < ROUNDS && this.#fresh(id).length > 0; round++) await this.#checkpoints.flush()
  }

  #fresh(id: string): readonly DeliveryRecord[] {
    return this.#deterministic.ledger.fresh.get(id) ?? []
  }
}
