/**
 * Tracks the messages that a vectorized batch's rows took although sensors failed, because a compared value was not a
 * number. State bits, which triggers use, continue as if the last number had been repeated. Gates that wait for a
 * failed sensor keep their states, whatever the bits say. Each row's share is stored as in unknown-states.ts.
 *
 * VECTORFAIL-1 such a message has no consequences, nothing subscribes to the batch while it has one, and the next two
 *   messages run all sensors; otherwise the vectorized batch ends and its rows continue individually
 */
import type { Message } from '../task/origin.ts'
import {
  MAX_FAILED,
  MAX_REPLAYED,
  type KeptMessage,
  type TimedMessage,
  type UnknownMessages,
  type FieldSetHistory,
} from './field-set-history.ts'
import { numberIn } from './value-source.ts'
import { COUNT, HANDLE } from './row-layout.ts'
import type { FiringHistory } from './firing-history.ts'
import type { Limits } from './row-code.ts'
import type { VectorDependencies } from './vector-code.ts'
import { FIRST } from './vector-past.ts'

/** The messages that the rows of a vectorized batch took together; lists are indexed by the place of the message. */
export interface TakenTogether {
  readonly rows: readonly number[]
  readonly limits: Limits
  readonly values: Float64Array
  readonly times: Float64Array
  /** the minimum values by parameter, then the maximum values */
  readonly bounds: Float64Array
  readonly messages: readonly (Message | undefined)[]
  readonly fieldSetHistories: readonly (FieldSetHistory | undefined)[]
  readonly history: FiringHistory
  /** Returns the state bits of the row at place `i` after a message. */
  statesAt(i: number, place: number): number
  /** Counts the messages up to a place that ran no sensor of a row, since its last synchronization. */
  silentUpTo(row: number, place: number): number
}

/** The members of a handle that this file uses. */
interface Attached {
  readonly materializedCount: number
  unknown: UnknownMessages | undefined
  readonly failed: number[]
}

const NEVER = -2

/** Sets when each node that has changed entered its state, up to a message. */
type SetSince = (i: number, place: number, target: number[]) => void

export class VectorFailures {
  readonly #parts: VectorDependencies
  readonly #taken: TakenTogether
  readonly #setSince: SetSince
  readonly #places: number[] = []
  readonly #failed = new Map<number, number>()
  /** number of messages since the first failing one, while they are close together */
  #near = 0

  constructor(parts: VectorDependencies, taken: TakenTogether, setSince: SetSince) {
    this.#parts = parts
    this.#taken = taken
    this.#setSince = setSince
  }

  get isEmpty(): boolean {
    return this.#places.length === 0
  }

  clear(): void {
    if (this.isEmpty) return
    this.#places.length = 0
    this.#failed.clear()
  }

  /** Returns whether sensors failed at this message or the one before. */
  isNear(place: number): boolean {
    return place - (this.#places.at(-1) ?? NEVER) < 2
  }

  has(place: number): boolean {
    return this.#failed.has(place)
  }

  /**
   * Stores a message's numbers at the next place, repeating the last number where a value is not one. Returns false
   * when rows must take the message individually.
   */
  read(message: Message, place: number): boolean {
    const { failing, names, parameters } = this.#parts
    if (failing === undefined) return false
    const { values } = this.#taken
    const at = place * parameters
    let failed = 0
    for (let p = 0; p < parameters; p++) {
      const readers = failing.readers[p] as number
      const value = numberIn(message[names[p] as string], readers !== 0)
      if (value === undefined) return false
      const isNone = Number.isNaN(value)
      if (isNone) failed |= readers
      values[at + p] = isNone ? (values[at - parameters + p] as number) : value
    }
    // values written as texts are numbers here
    if (failed === 0) return true
    const last = this.#places.at(-1) ?? NEVER
    const near = place - last > 2 ? 1 : this.#near + place - last
    if (near > MAX_REPLAYED || failing.undecided(failed) === undefined) return false
    this.#near = near
    this.#places.push(place)
    this.#failed.set(place, failed)
    return true
  }

  /** Returns the gate states of the row at place `i` after a message, as bits. */
  gatesAt(i: number, place: number): number {
    const { store, failing } = this.#parts
    let gates = 0
    let open = -1
    for (let at = place; open !== 0; at--) {
      const states = this.#taken.statesAt(i, at)
      const failed = this.#failed.get(at)
      const undecided = failed === undefined ? 0 : (failing?.undecided(failed)?.[states] ?? 0)
      gates |= store.gatesOf(states) & open & ~undecided
      open &= undecided
    }
    return gates
  }

  /** Returns whether the gate states differ from what state bits say. */
  isOdd(i: number, place: number): boolean {
    return this.has(place) && this.gatesAt(i, place) !== this.#parts.store.gatesOf(this.#taken.statesAt(i, place))
  }

  /** Returns, by slot, the last message up to a place at which a gate changed; below the first when none did. */
  lastChangeOf(gate: number, i: number, place: number): number {
    const { lastChange, changes, store } = this.#parts
    const { limits, values } = this.#taken
    const node = 1 << (store.shape.sensors.length + gate)
    for (let from = place; from >= FIRST;) {
      const change = lastChange(limits, i, values, from, FIRST, node, changes)
      const odd = this.#lastOdd(from)
      if (change > odd) return change
      if (odd < FIRST) return FIRST - 1
      if ((((this.gatesAt(i, odd) ^ this.gatesAt(i, odd - 1)) >> gate) & 1) === 1) return odd
      from = odd - 1
    }
    return FIRST - 1
  }

  /**
   * Stores the failures of the row at place `i`, before its own numbers change. `last`: the newest message that the row
   * has taken.
   */
  settle(i: number, last: number): void {
    const { store } = this.#parts
    const row = this.#taken.rows[i] as number
    const handle = store.objects[row * store.layout.objects + HANDLE] as unknown as Attached
    const places = this.#places
    let end = places.length
    while (end > 0 && (places[end - 1] as number) > last) end--
    const newest = places[end - 1]
    if (newest === undefined) return
    const countOf = (place: number): number => (store.nums[store.at(row) + COUNT] ?? 0) + place - (FIRST - 1)
    const invocationOf = (place: number): number => countOf(place) - this.#taken.silentUpTo(row, place)
    // Older ones are outside the window of the newest.
    const oldest = invocationOf(newest) - MAX_FAILED
    let first = end - 1
    while (first > 0 && invocationOf(places[first - 1] as number) > oldest) first--
    for (let p = first; p < end; p++) handle.failed.push(invocationOf(places[p] as number))
    if (handle.failed.length > MAX_FAILED) handle.failed.splice(0, handle.failed.length - MAX_FAILED)
    if (last - newest > 1) return
    store.hadUnknown = true
    store.unknownAt[row] = countOf(newest)
    this.#keepUnknown(i, handle, places.slice(0, end), countOf)
    if (newest !== last) return
    const [before, now] = [this.gatesAt(i, last - 1), this.gatesAt(i, last)]
    if (this.isOdd(i, last) || this.isOdd(i, last - 1)) store.oddGates.set(row, { before, now })
  }

  #keepUnknown(i: number, handle: Attached, places: readonly number[], countOf: (place: number) => number): void {
    const { nums, layout } = this.#parts.store
    const { messages, times, fieldSetHistories, history } = this.#taken
    const newest = places.at(-1) as number
    const first = places.findLast((place, p) => place - (places[p - 1] ?? NEVER) > 2) as number
    const last = {
      message: messages[first - 1],
      fields: fieldSetHistories[first - 1]?.fields,
      time: times[first - 1],
      index: -1,
      older: undefined,
    } as KeptMessage
    const since = this.#parts.store.at(this.#taken.rows[i] as number) + layout.since
    const from = {
      count: countOf(first),
      fieldSets: fieldSetHistories[first] as NonNullable<(typeof fieldSetHistories)[number]>,
      before: this.#taken.statesAt(i, first - 1),
      since: Array.from(nums.subarray(since, since + layout.nodes)),
      last: countOf(first - 1) === handle.materializedCount ? undefined : last,
      prior: this.#taken.statesAt(i, first - 2),
    }
    this.#setSince(i, first - 1, from.since)
    const replayed: TimedMessage[] = []
    let fired = 0
    for (let place = first; place <= newest; place++) {
      replayed.push({ message: messages[place] as Message, time: times[place] as number })
      if (history.has(place, i)) fired++
    }
    handle.unknown = { from, replayed, fired }
  }

  #lastOdd(place: number): number {
    const last = this.#places.findLast((one) => one <= place)
    return last === undefined ? NEVER : Math.min(last + 1, place)
  }
}
