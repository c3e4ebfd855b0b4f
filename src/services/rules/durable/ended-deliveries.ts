/** Stores ended deliveries; if their run has ended, together with its end or before its end is reported. */
import type { Store, Write } from '#storage'
import type { Checkpoints } from './checkpoints.ts'
import type { DeterministicEngine } from './deterministic-engine.ts'
import { DELIVERIES, deliveryId, MAX_DELIVERIES, newestOf, STATES, type DeliveryRecord } from './records.ts'

/** Two rounds, since a round of checkpoints may already be in progress. */
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

  /** Returns the writes of a task's unstored deliveries, for the commit of the input that ends its run. */
  writes(id: string): readonly Write[] {
    const deliveries = this.#store.collection(DELIVERIES)
    return this.#fresh(id).map((one) => deliveries.putting(deliveryId(id, one.number), one))
  }

  /** Stores deliveries of ended runs, then returns the unstored deliveries of the current run. */
  async listed(id: string): Promise<readonly DeliveryRecord[]> {
    const isOfRun = (one: DeliveryRecord): boolean => this.#deterministic.isOfRun(id, one.id)
    for (let round = 0; round < ROUNDS && !this.#fresh(id).every(isOfRun); round++) await this.#checkpoints.flush()
    return this.#fresh(id).filter(isOfRun)
  }

  store(id: string): Promise<void> | undefined {
    return this.#fresh(id).length === 0 ? undefined : this.#flushed(id)
  }

  /** Counts the ended deliveries of a task; 0 before its first epoch. */
  async count(id: string, epoch: number): Promise<number> {
    if (this.#deterministic.task(id) !== undefined) return this.#deterministic.ledger.count(id)
    if (epoch <= 1) return 0
    const state = await this.#store.collection(STATES).get(id)
    // the newest deliveries may be stored before the state that counts them
    const last = await this.#store.collection(DELIVERIES).find(newestOf(id, 1))
    return Math.max(state?.value.delivered ?? 0, ...last.map(({ value }) => value.number + 1))
  }

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
