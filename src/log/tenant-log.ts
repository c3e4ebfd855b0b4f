/**
 * The log of one tenant, and the queue of units in flight to it.
 *
 * A unit is one atomic request: admitted while there is room, appended in one commit, applied in order, acknowledged.
 * Followers may be slow and must not delay time and tasks, so they are notified in order and continue on their own.
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
import { LOG_NAME } from './message-entry.ts'

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
export interface UnitSpan {
  readonly first: number
  readonly last: number
}

export type Followed = (span: UnitSpan) => void

export interface NewUnit {
  readonly entries: readonly NewEntry[]
  readonly writes?: readonly Write[]
  /** called in log order when the unit is durable and applied; must return at once */
  readonly followed?: Followed | undefined
}

export interface Applied {
  readonly answers: readonly unknown[]
  readonly results: readonly number[]
}

export interface LogEngine {
  apply(input: LogInput, position: number): unknown
  settled(): void
}

interface Unit extends NewUnit {
  readonly inputs: number
  resolve(applied: Applied): void
  reject(error: unknown): void
}

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
  readonly #counts = new Map<string, number>()
  readonly #waiting = new Set<() => void>()
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

  get position(): number {
    return this.#position
  }

  get size(): number {
    return this.#size
  }

  /** Calls `wake` once, after the next units are applied. Returns a function that cancels it. */
  onceGrown(wake: () => void): () => void {
    this.#waiting.add(wake)
    return () => void this.#waiting.delete(wake)
  }

  /** Time (`at`) of the first input that is not yet applied; time must not pass it. */
  get horizon(): number {
    return this.#moments.first
  }

  get lastAt(): number {
    return this.#moments.last
  }

  has(kind: string): boolean {
    return (this.#counts.get(kind) ?? 0) > 0
  }

  /** Commits entries and writes atomically, and resolves with the results of applying the entries. */
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
      const appending = this.log.appending(entries.map(({ body }) => body))
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
      const entryResults = entries.length === 0 ? results : results.slice(0, -1)
      const settle =
        inputs === 0
          ? () => item.resolve({ answers: [], results: entryResults })
          : await this.#apply(item, last, entryResults, yielder)
      this.#position = Math.max(this.#position, last)
      this.#leave(item)
      const span = { first: last === 0 ? 0 : last - entries.length + 1, last }
      if (item.followed !== undefined) item.followed(span)
      else if (last > 0) this.#others?.(span)
      settle()
    }
    this.#engine?.settled()
    if (this.#waiting.size === 0) return
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }

  async #apply(unit: Unit, last: number, results: readonly number[], yielder: Yielder): Promise<() => void> {
    const { entries, resolve, reject } = unit
    let position = last - entries.length
    const answers: unknown[] = []
    let failure: { readonly error: unknown } | undefined
    for (const { input } of entries) {
      if (answers.length > 0 && yielder.isOver) await yielder.next()
      this.#position = ++position
      try {
        const one = input === undefined ? undefined : this.#engine?.apply(input, position)
        answers.push(one instanceof Promise ? await one : one)
      } catch (error) {
        // later entries are in the log as well, so apply them too
        answers.push(undefined)
        failure ??= { error }
      }
    }
    const { error } = failure ?? {}
    return failure === undefined ? () => resolve({ answers, results }) : () => reject(error)
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
