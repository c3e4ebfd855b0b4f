/**
 * The log of one tenant, and the queue of the units on their way into it. Whatever comes from outside is an entry of this
 * one log: what is posted (`message-entry.ts`, bulks), what tasks are given besides (commands, answers, beginnings and
 * ends, events of other services, passed time), in the order in which it takes effect. Tasks take entries that have an
 * `at` as their inputs; series and streams follow those that are kept for them; an entry may be both, and its text is
 * made once. States, series and readers name places of this log and no other.
 *
 * A unit is what one sender wants whole: entries, and writes of its own. It goes through four stages:
 *
 *   admit        what waits is bounded, by the broker for posts and here for inputs; beyond it nothing was done
 *   append       entries and writes go to the store at once, as one commit; which commits share a transaction is the
 *                store's affair, which keeps their order (STORE-6)
 *   apply        when it is durable, and all units before it are applied, the engine takes its inputs
 *   acknowledge  behind that, who follows the log hears of it, then its sender is answered
 *
 * The first three are this queue, with one reorder buffer. The last is the follower's own: what it does for
 * posters (discovery, series, subscribers) may take long and must not hold up time and tasks, so it hears of units in
 * their order and goes on by itself.
 *
 * Where no rules are served, no entry has an `at`; where no broker is, none is kept. The pruner then reads from the store
 * what the absent one still needs. A partition of a tenant has a log of its own: what others hand to it are inputs that are
 * not kept, since series and streams have them at home.
 *
 * The format of entries goes with the number of `state.db` and of a schema of PostgreSQL, and with `REPLAY_NUMBER` in a
 * cluster: another one is refused by name when it is opened.
 *
 * LOG-1 a message is written once: one entry has it for tasks, series and streams
 * LOG-2 an input is applied when its unit is durable, never before, and its sender is answered after that
 * LOG-3 inputs are applied, and followers hear of units, in the order of the log, which is that in which they came,
 *   however many units are under way
 * LOG-4 a unit that is refused leaves nothing behind and holds up none
 * LOG-5 what waits is bounded: beyond it inputs are refused, and nothing of them was done
 * LOG-6 the times of inputs never go back
 * LOG-7 an entry is let go when neither states of tasks nor series nor readers who come back need it, whether they are
 *   served here or not
 */
import { AppError, type Ended, ReorderBuffer, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import type { Committed, Log, LogBody, Store, Write } from '#storage'
import { LogPruner } from './log-pruner.ts'
import { LOG, PARTITION } from './message-entry.ts'

/** What tasks take of an entry. `at`: epoch ms */
export interface LogInput {
  readonly k: string
  readonly at: number
}

export interface NewEntry {
  readonly body: LogBody
  /** what the body says to tasks; undefined: nothing */
  readonly input?: LogInput | undefined
}

/** Positions of the entries of a unit; 0: it has none. */
export interface UnitPlace {
  readonly first: number
  readonly last: number
}

export type Followed = (place: UnitPlace) => void

export interface NewUnit {
  readonly entries: readonly NewEntry[]
  /** the sender's own */
  readonly writes?: readonly Write[]
  /** called when the unit is durable and applied, in the order of the log; must not wait */
  readonly followed?: Followed | undefined
}

export interface Applied {
  /** what applying each of the entries gave */
  readonly given: readonly unknown[]
  /** of the sender's own writes, in their order: positions and versions as a commit gives them */
  readonly results: readonly number[]
}

export interface LogEngine {
  /** Does what the input says; what it gives or throws goes to the sender. */
  apply(input: LogInput, position: number): unknown
  /** After units were applied, or refused. */
  settled(): void
}

interface Unit extends NewUnit {
  /** inputs among its entries */
  readonly inputs: number
  resolve(applied: Applied): void
  reject(error: unknown): void
}

/** Above this many inputs, those that arrive are refused. */
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
  /** inputs on their way, by kind */
  readonly #counts = new Map<string, number>()
  readonly #moments = new Moments()

  constructor(store: Store) {
    this.#store = store
    this.log = store.log(LOG)
    this.pruner = new LogPruner(store, this.log)
  }

  /** Who takes inputs from here on; `position`: of the last entry that it took from the log itself. */
  attach(engine: LogEngine, position: number): void {
    this.#engine = engine
    this.#position = Math.max(this.#position, position)
  }

  /** Who hears of units that bring nobody who does, in their order. */
  followOthers(others: Followed): void {
    this.#others = others
  }

  /** of the last entry that was applied */
  get position(): number {
    return this.#position
  }

  /** inputs on their way */
  get size(): number {
    return this.#size
  }

  /** `at` of the first input that was not applied yet; time may not go beyond it. */
  get horizon(): number {
    return this.#moments.first
  }

  /** `at` of the last input on its way. */
  get lastAt(): number {
    return this.#moments.last
  }

  /** Whether an input of that kind is on its way; one that was applied is not. */
  has(kind: string): boolean {
    return (this.#counts.get(kind) ?? 0) > 0
  }

  /**
   * All entries are committed with the writes, or none is. Settles with what applying them gives, after they are durable.
   * Rejects with the store's error when they are not.
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

  /** Resolves when nothing is on its way. */
  async idle(): Promise<void> {
    while (this.#committing.size > 0) await this.#committing.passed()
  }

  /** The entries come last, so that the places in an error about writes are those of their sender. */
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
      // not after the last: whoever waits until nothing is on its way finds all settled
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

  /** Gives how its sender is answered. */
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
        // those after it are in the log too
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

/** dropped moments that may stand before the first */
const MAX_DROPPED = 1_024

/** The moments of units with inputs, in their order. */
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
