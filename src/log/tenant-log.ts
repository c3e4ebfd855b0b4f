/**
 * The log of one tenant, and the queue of units in flight to it. Every input from outside is an entry of this log, in
 * the order in which it takes effect: posts (`message-entry.ts`, bulks) and other inputs of tasks (commands, results,
 * starts and stops, events of other services, passed time). An entry with an `at` is an input of tasks; a kept entry is
 * followed by series and streams; an entry may be both, and its text is serialized once. States, series and readers
 * store positions of this log only.
 *
 * A unit is one atomic request of a sender: its entries and its other writes. A unit passes through four stages:
 * - admit: the queue is bounded, by the broker for posts and here for inputs; a unit beyond the bound is rejected
 * - append: entries and writes go to the store at once, as one commit; the store decides which commits share a
 *   transaction, and keeps their order (STORE-6)
 * - apply: the engine takes the inputs of a unit once it is durable and all units before it are applied
 * - acknowledge: followers of the log are notified, then the sender gets its response
 *
 * This queue performs the first three with one reorder buffer. Followers perform the last one: discovery, series and
 * subscribers may be slow and must not delay time and tasks, so followers are notified in order and continue on their
 * own.
 *
 * Without rules, entries do not have an `at`; without a broker, entries are not kept. The pruner then reads from the
 * store what the absent service still needs. Each partition of a tenant has its own log: messages from other partitions
 * are inputs that are not kept, since series and streams read them in their home partition.
 *
 * The format number of `state.db` and of a PostgreSQL schema, and `REPLAY_NUMBER` in a cluster, cover the format of
 * entries: another number is rejected by name on opening.
 *
 * LOG-1 a message is written once: one entry serves tasks, series and streams
 * LOG-2 an input is applied after its unit is durable, and its sender gets a response after that
 * LOG-3 inputs are applied, and followers are notified of units, in the order of the log, which is the order of arrival
 * LOG-4 a rejected unit stores nothing and does not delay other units
 * LOG-5 the queue is limited: inputs beyond the limit are rejected without effect
 * LOG-6 the times of inputs never decrease
 * LOG-7 an entry is trimmed when states of tasks, kept inputs, series and returning readers no longer need it, whether
 *   or not this process serves them
 */
import { AppError, type Ended, ReorderBuffer, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import type { Committed, Log, LogBody, Store, Write } from '#storage'
import { LogPruner } from './log-pruner.ts'
import { LOG_NAME, PARTITION } from './message-entry.ts'

/** The part of a log entry that tasks read. `at`: epoch ms. */
export interface LogInput {
  readonly k: string
  readonly at: number
}

export interface NewEntry {
  readonly body: LogBody
  /** the body as tasks read it; undefined when the entry is not an input */
  readonly input?: LogInput | undefined
}

/** First and last positions of a unit's entries; 0 when it has no entries. */
export interface UnitPlace {
  readonly first: number
  readonly last: number
}

export type Followed = (place: UnitPlace) => void

export interface NewUnit {
  readonly entries: readonly NewEntry[]
  /** writes of the sender, committed with the entries */
  readonly writes?: readonly Write[]
  /** called in log order when the unit is durable and applied; must return at once */
  readonly followed?: Followed | undefined
}

export interface Applied {
  /** result of applying each entry */
  readonly given: readonly unknown[]
  /** positions and versions of the sender's writes, in order */
  readonly results: readonly number[]
}

export interface LogEngine {
  /** Applies an input; the result or error goes to the sender. */
  apply(input: LogInput, position: number): unknown
  /** Called after units have been applied or rejected. */
  settled(): void
}

interface Unit extends NewUnit {
  readonly inputs: number
  resolve(applied: Applied): void
  reject(error: unknown): void
}

/** most inputs in flight; further inputs are rejected */
const MAX_WAITING = 100_000
const NO_WRITES: readonly Write[] = []
const NOTHING: Promise<Committed> = Promise.resolve({ results: [] })

export class TenantLog {
  readonly log: Log
  readonly pruner: LogPruner
  readonly #store: Store
  readonly #committing = new ReorderBuffer<Unit, Committed>((ended) => this.#retire(ended))
  #engine: LogEngine | undefined
  #others: Followed | undefined
  #position = 0
  #size = 0
  /** inputs in flight by kind */
  readonly #counts = new Map<string, number>()
  readonly #moments = new Moments()

  constructor(store: Store) {
    this.#store = store
    this.log = store.log(LOG_NAME)
    this.pruner = new LogPruner(store, this.log)
  }

  /** Sets the engine. `position`: the last entry that the engine already read from the log. */
  attach(engine: LogEngine, position: number): void {
    this.#engine = engine
    this.#position = Math.max(this.#position, position)
  }

  /** Sets the listener for units that have no listener of their own. Calls come in log order. */
  followOthers(others: Followed): void {
    this.#others = others
  }

  /** Position of the last applied entry. */
  get position(): number {
    return this.#position
  }

  /** Number of inputs in flight. */
  get size(): number {
    return this.#size
  }

  /** Time (`at`) of the first input that is not yet applied; time must not pass it. */
  get horizon(): number {
    return this.#moments.first
  }

  /** Time (`at`) of the last input in flight. */
  get lastAt(): number {
    return this.#moments.last
  }

  has(kind: string): boolean {
    return (this.#counts.get(kind) ?? 0) > 0
  }

  /**
   * Commits the entries and writes atomically. Resolves with the results of applying the entries once they are durable;
   * rejects with the store's error if the commit fails.
   */
  add(unit: NewUnit): Promise<Applied> {
    const { entries, writes = NO_WRITES } = unit
    let at: number | undefined
    let inputs = 0
    for (const { input } of entries) {
      if (input === undefined) continue
      at ??= input.at
      inputs += 1
    }
    if (at !== undefined && this.#size >= MAX_WAITING) {
      return Promise.reject(new AppError('TOO_LARGE', `${MAX_WAITING} inputs wait to be stored; send less at once`))
    }
    return new Promise((resolve, reject) => {
      this.#committing.add({ ...unit, inputs, resolve, reject }, this.#commit(entries, writes))
      if (at === undefined) return
      this.#moments.add(at)
      this.#count(entries, 1)
    })
  }

  async idle(): Promise<void> {
    while (this.#committing.size > 0) await this.#committing.passed()
  }

  /** Puts entries last, so that indexes in an error about writes match the sender's writes. */
  #commit(entries: readonly NewEntry[], writes: readonly Write[]): Promise<Committed> {
    if (entries.length > 0) {
      const appending = this.log.appending(
        PARTITION,
        entries.map(({ body }) => body),
      )
      return this.#store.commit([...writes, appending])
    }
    return writes.length === 0 ? NOTHING : this.#store.commit(writes)
  }

  async #retire(ended: readonly Ended<Unit, Committed>[]): Promise<void> {
    const yielder = new Yielder(machineTimers)
    for (const { item, outcome } of ended) {
      // no yield after the last unit, so that a caller of `idle` finds all units settled
      if (yielder.isOver) await yielder.next()
      const { entries, inputs } = item
      if ('error' in outcome) {
        this.#leave(item)
        item.reject(outcome.error)
        continue
      }
      const { results } = outcome.result
      const last = entries.length === 0 ? 0 : (results.at(-1) ?? 0)
      const own = entries.length === 0 ? results : results.slice(0, -1)
      const settle =
        inputs === 0 ? () => item.resolve({ given: [], results: own }) : await this.#apply(item, last, own, yielder)
      this.#position = Math.max(this.#position, last)
      this.#leave(item)
      const place = { first: last === 0 ? 0 : last - entries.length + 1, last }
      if (item.followed !== undefined) item.followed(place)
      else if (last > 0) this.#others?.(place)
      settle()
    }
    this.#engine?.settled()
  }

  /** Applies a unit and returns a function that replies to the sender. */
  async #apply(unit: Unit, last: number, results: readonly number[], yielder: Yielder): Promise<() => void> {
    const { entries, resolve, reject } = unit
    let position = last - entries.length
    const given: unknown[] = []
    let failure: { readonly error: unknown } | undefined
    for (const { input } of entries) {
      if (given.length > 0 && yielder.isOver) await yielder.next()
      this.#position = ++position
      try {
        const one = input === undefined ? undefined : this.#engine?.apply(input, position)
        given.push(one instanceof Promise ? await one : one)
      } catch (error) {
        // later entries are in the log as well, so apply them too
        given.push(undefined)
        failure ??= { error }
      }
    }
    const { error } = failure ?? {}
    return failure === undefined ? () => resolve({ given, results }) : () => reject(error)
  }

  #leave({ entries, inputs }: Unit): void {
    this.#committing.drop(1)
    if (inputs === 0) return
    this.#moments.drop()
    this.#count(entries, -1)
  }

  #count(entries: readonly NewEntry[], sign: 1 | -1): void {
    for (const { input } of entries) {
      if (input === undefined) continue
      this.#size += sign
      this.#counts.set(input.k, (this.#counts.get(input.k) ?? 0) + sign)
    }
  }
}

/** number of dropped moments before the array is compacted */
const MAX_DROPPED = 1_024

class Moments {
  #all: number[] = []
  #dropped = 0

  get first(): number {
    return this.#all[this.#dropped] ?? Number.POSITIVE_INFINITY
  }

  get last(): number {
    return this.#all.length > this.#dropped ? (this.#all.at(-1) ?? 0) : Number.NEGATIVE_INFINITY
  }

  add(at: number): void {
    this.#all.push(at)
  }

  drop(): void {
    this.#dropped += 1
    if (this.#dropped < MAX_DROPPED && this.#dropped < this.#all.length) return
    this.#all = this.#all.slice(this.#dropped)
    this.#dropped = 0
  }
}
