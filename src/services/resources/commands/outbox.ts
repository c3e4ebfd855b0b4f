/** Commands as the broker hands them over: a job each, to be committed with the command. */
import type { Json } from '#kernel'
import type { Store, Write } from '#storage'
import { COMMAND_JOBS } from './command-record.ts'

export interface OutboxDependencies {
  store(tenant: string): Store
  /** epoch ms */
  readonly now: () => number
  readonly newId: () => string
  /** told after the commit */
  ready(tenant: string, resource: string): void
}

/** `CommandOutbox` of the broker's contract. */
export class Outbox {
  readonly #dependencies: OutboxDependencies
  #last = 0
  #count = 0

  constructor(dependencies: OutboxDependencies) {
    this.#dependencies = dependencies
  }

  planning(
    tenant: string,
    resource: string,
    command: Readonly<Record<string, Json>>,
    hops: number,
    root?: string,
  ): readonly Write[] {
    const job = { resource, command, hops, ...(root !== undefined && { root }) }
    return [this.#dependencies.store(tenant).collection(COMMAND_JOBS).putting(this.#nextId(), job)]
  }

  committed(tenant: string, resource: string): void {
    this.#dependencies.ready(tenant, resource)
  }

  /** What comes now comes after that job of another life of this host, whose clock may have been ahead. */
  goOnAfter(id: string): void {
    const [last = Number.NaN, count = Number.NaN] = id.split('-', 2).map(Number)
    if (!(last >= this.#last)) return
    this.#count = last > this.#last ? count : Math.max(count, this.#count)
    this.#last = last
  }

  /** Later ones come after earlier ones as text, though the clock be set back in between. */
  #nextId(): string {
    const now = Math.max(this.#last, this.#dependencies.now())
    this.#count = now === this.#last ? this.#count + 1 : 0
    this.#last = now
    return `${String(now).padStart(15, '0')}-${String(this.#count).padStart(9, '0')}-${this.#dependencies.newId()}`
  }
}
