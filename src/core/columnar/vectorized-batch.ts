/**
 * Many rows of one batch that hear the same resource. While nothing disturbs them, a message is one pass over their limits
 * that finds who fires. A row's own numbers are brought up to date, from what the last messages showed, when somebody
 * asks for one of the rows (then the vectorized batch is over) or when no more messages can be kept.
 *
 * VECTOR-1 a vectorized batch that is over leaves each row as if it had taken its messages by itself
 * VECTOR-2 rows act in their order: those that are not reached when the batch ends have not got the message
 */
import type { Plug } from '../plug/plug.ts'
import type { Message } from '../task/origin.ts'
import type { VectorDependencies } from './vector-code.ts'
import {
  AFTER,
  AT_BITS,
  AT_COUNT,
  AT_FIRES,
  AT_SINCE,
  BEFORE,
  COUNT,
  FIRED,
  FIRED_BY,
  firedBeforeAt,
  FIRES,
  FLAG,
  objectsAt,
  PLUG,
  PROPERTIES,
  HANDLE,
  TIME,
} from './row-layout.ts'
import { limitIndex, MIN_INDEXED, wordsFor, type LimitIndex } from './limit-index.ts'
import { parametersOf, type Limits, type RowEvents, type Values } from './row-code.ts'
import type { RowStore } from './row-store.ts'
import { RowMessage } from './row-message.ts'

/** What is asked of a handle here. */
interface Attached {
  readonly isAway: boolean
}

/** so many rows are worth it */
export const MIN_VECTORIZED = 8
/** messages that rows may be behind, and the two before that they know themselves: their places fit into PLACE_BITS */
const KEPT = 256
/** of many rows, which take long to be brought up to date */
const KEPT_OF_MANY = 1024
const PLACE_BITS = 10
const PLACE = 2 ** PLACE_BITS - 1
/** messages after which it is worth while to sort limits */
const SORTED_AFTER = 16
/** place of the first message that only the vectorized knows */
const FIRST = 2
const ACTUATOR = objectsAt(0)

export class VectorizedBatch {
  readonly rows: readonly number[]
  /** the same, close together in memory */
  readonly #rowAt: Int32Array
  /** its rows are up to date again and go on by themselves */
  isOver = false
  readonly #parts: VectorDependencies
  readonly #store: RowStore
  readonly #batch: RowEvents
  readonly #limits: Limits
  /** numbers that rows compare, by message and parameter; the one before the first is not known */
  readonly #values: Float64Array
  /** the least of them by parameter, then the greatest */
  readonly #bounds: Float64Array
  readonly #times: Float64Array
  readonly #messages: (Message | undefined)[] = []
  /** by row, PLACE_BITS each: place of the message at which it fired last but one, and last; above them how often it fired */
  readonly #fired: Int32Array
  /** null: its limits are not to be sorted */
  #index: LimitIndex | null | undefined
  #messagesLooked = 0
  /** by row: what it calls, and with what */
  readonly #plugs: Plug[] = []
  readonly #properties: Values[] = []
  /** when it is the same for all */
  readonly #onlyPlug: Plug | undefined
  /** the rows that fire at the newest message, as bits by place */
  readonly #firing: Int32Array
  #told: RowMessage | undefined
  /** place of the newest message */
  #newest = FIRST - 1
  /** rows before this place have got it */
  #reached: number

  /**
   * Undefined when the rows, whose last message was `last`, cannot go together: one has no handle, is ahead or behind, or
   * has an actuator whose properties are found anew for each call.
   */
  static of(
    rows: readonly number[],
    parts: VectorDependencies,
    batch: RowEvents,
    last: Message,
  ): VectorizedBatch | undefined {
    const { store } = parts
    const time = store.time(rows[0] ?? 0)
    for (const row of rows) {
      const handle = store.objects[row * store.layout.objects + HANDLE] as Attached | undefined
      const isSimple = store.objects[row * store.layout.objects + ACTUATOR + PROPERTIES] !== undefined
      if (handle === undefined || handle.isAway || !isSimple || store.time(row) !== time) return undefined
    }
    const vectorized = new VectorizedBatch(rows, parts, batch)
    const fits = vectorized.#begin(last) && rows.every((row, i) => vectorized.#shown(i, FIRST - 1) === store.after(row))
    return fits ? vectorized : undefined
  }

  private constructor(rows: readonly number[], parts: VectorDependencies, batch: RowEvents) {
    const { store } = parts
    const { length } = rows
    const { constants } = store.shape
    this.rows = rows
    this.#parts = parts
    this.#store = store
    this.#batch = batch
    this.#limits = Array.from({ length: constants }, (_, c) => limitsOf(rows, store, c))
    const kept = length < MIN_INDEXED ? KEPT : KEPT_OF_MANY
    this.#times = new Float64Array(kept)
    this.#values = new Float64Array(kept * parts.parameters)
    this.#bounds = new Float64Array(2 * parts.parameters)
    this.#fired = new Int32Array(length)
    this.#firing = new Int32Array(wordsFor(length))
    this.#reached = length
    for (const row of rows) {
      const actuator = row * store.layout.objects + ACTUATOR
      this.#plugs.push(store.objects[actuator + PLUG] as Plug)
      this.#properties.push(store.objects[actuator + PROPERTIES] as Values)
    }
    const [plug] = this.#plugs
    this.#onlyPlug = this.#plugs.every((one) => one === plug) ? plug : undefined
    this.#rowAt = Int32Array.from(rows)
  }

  /** Of the newest message. Who asks is a plug in its call: its row has got it. */
  get time(): number {
    return this.#times[this.#newest] ?? 0
  }

  get message(): Message | undefined {
    return this.#messages[this.#newest]
  }

  /** Gives how many rows have got the message: when it is not all of them, the vectorized is over. */
  take(message: Message, now: number): number {
    const { read, parameters } = this.#parts
    if (this.#newest === this.#times.length - 1) {
      const last = this.#messages[this.#newest]
      this.#settle()
      if (last !== undefined) this.#begin(last)
    }
    const place = this.#newest + 1
    if (!read(message, this.#values, place * parameters)) {
      this.end()
      return 0
    }
    this.#newest = place
    this.#times[place] = now
    this.#messages[place] = message
    this.#widen(place)
    return this.#findFiring(place * parameters) ? this.#fire(message) : this.rows.length
  }

  /** Which rows fire by the numbers from `at` on; false when none does. */
  #findFiring(at: number): boolean {
    if (this.#index) return this.#index.find(this.#firing, this.#values, at)
    const { sweep, condition, store } = this.#parts
    if (this.#index === undefined && ++this.#messagesLooked > SORTED_AFTER) {
      const { length } = this.rows
      this.#index =
        (length < MIN_INDEXED
          ? undefined
          : limitIndex(store.shape, condition, parametersOf(store.shape), this.#limits, length)) ?? null
    }
    return sweep(this.#limits, this.#firing, this.#values, at) !== 0
  }

  /** Brings the rows up to date. */
  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.#settle()
  }

  #fire(message: Message): number {
    const batch = this.#batch
    const { length } = this.rows
    const words = this.#firing
    batch.current = message
    batch.currentRow = -1
    batch.beginFirings(this.#parts.trigger)
    let firings = 0
    // None are left when a call ends the batch.
    for (let w = 0; w < words.length && !this.isOver; w++) {
      for (let word = words[w] ?? 0; word !== 0 && !this.isOver; word &= word - 1) {
        if (this.#fireAt((w << 5) + 31 - Math.clz32(word & -word))) firings++
      }
    }
    batch.endFirings(firings)
    if (this.isOver) return this.#reached
    this.#reached = length
    return length
  }

  /** The row at place `i`. */
  #fireAt(i: number): boolean {
    this.#reached = i + 1
    this.#fired[i] = firedAgain(this.#fired[i] ?? 0, this.#newest)
    if (this.#batch.tells) this.#tell(i)
    const plug = (this.#onlyPlug ?? this.#plugs[i]) as Plug
    return this.#batch.fireNext(this.#rowAt[i] ?? 0, plug, this.#properties[i] as Values)
  }

  /** That the row at place `i` fires. */
  #tell(i: number): void {
    const { nums, layout } = this.#store
    const row = this.#rowAt[i] ?? 0
    const d = this.#store.at(row)
    const newest = this.#newest
    const told = (this.#told ??= new RowMessage(new Float64Array(layout.nodes)))
    told.row = row
    told.count = (nums[d + COUNT] ?? 0) + newest - (FIRST - 1)
    told.time = this.#times[newest] ?? 0
    told.message = this.#messages[newest] as Message
    told.before = this.#statesAt(i, newest - 1)
    told.after = this.#shown(i, newest)
    if (this.#batch.tellsWhy) {
      for (let n = 0; n < layout.nodes; n++) told.since[n] = nums[d + layout.since + n] ?? 0
      this.#setSince(i, newest - 1, told.since, 0)
    }
    this.#batch.tellNext(told, this.#parts.trigger)
  }

  /** From rows that are up to date. False when their last message is not one for vectorized batch. */
  #begin(last: Message): boolean {
    const { read, parameters } = this.#parts
    this.#newest = FIRST - 1
    this.#messages.length = 0
    this.#times[this.#newest] = this.#store.time(this.rows[0] ?? 0)
    this.#fired.fill(0)
    this.#bounds.fill(Number.POSITIVE_INFINITY, 0, parameters).fill(Number.NEGATIVE_INFINITY, parameters)
    if (!read(last, this.#values, this.#newest * parameters)) return false
    this.#widen(this.#newest)
    return true
  }

  #widen(place: number): void {
    const { parameters } = this.#parts
    const bounds = this.#bounds
    for (let p = 0; p < parameters; p++) {
      const value = this.#values[place * parameters + p] ?? 0
      if (value < (bounds[p] ?? 0)) bounds[p] = value
      if (value > (bounds[parameters + p] ?? 0)) bounds[parameters + p] = value
    }
  }

  #settle(): void {
    for (let i = 0; i < this.rows.length; i++) this.#settleRow(i, i < this.#reached ? this.#newest : this.#newest - 1)
  }

  /** `last`: the newest message that the row at place `i` has got. */
  #settleRow(i: number, last: number): void {
    if (last < FIRST) return
    const { nums, ints, layout } = this.#store
    const d = this.#store.at(this.rows[i] ?? 0)
    const fired = this.#fired[i] ?? 0
    if (fired !== 0) this.#settleFirings(i, timesOf(fired), lastOf(fired), fired & PLACE)
    this.#setSince(i, last - 1, nums, d + layout.since)
    const before = this.#statesAt(i, last - 1)
    ints[2 * d + AFTER] = this.#statesAt(i, last)
    ints[2 * d + BEFORE] = before
    nums[d + COUNT] = (nums[d + COUNT] ?? 0) + last - (FIRST - 1)
    nums[d + TIME] = this.#times[last] ?? 0
  }

  /** What a row keeps of its last firing, while its own numbers are still the old ones. */
  #settleFirings(i: number, fires: number, last: number, before: number): void {
    const store = this.#store
    const { nums, past, pastInts, layout, objects } = store
    const row = this.rows[i] ?? 0
    const p = store.pastAt(row)
    const d = store.at(row)
    const own = row * layout.objects
    const hadFired = fires > 1 || past[p + AT_COUNT] !== -1
    past[p + firedBeforeAt(layout, 0)] = (fires > 1 ? this.#times[before] : past[p + FIRED]) ?? 0
    past[p + FIRED] = this.#times[last] ?? 0
    past[p + AT_COUNT] = (nums[d + COUNT] ?? 0) + last - (FIRST - 1)
    past[p + AT_FIRES] = store.fires(row) + fires - 1
    pastInts[2 * (p + AT_BITS)] = this.#statesAt(i, last - 1) | (hadFired ? FLAG : 0)
    pastInts[2 * (p + AT_BITS) + 1] = this.#statesAt(i, last)
    for (let n = 0; n < layout.nodes; n++) past[p + AT_SINCE + n] = nums[d + layout.since + n] ?? 0
    this.#setSince(i, last - 1, past, p + AT_SINCE)
    objects[own + FIRES] = store.fires(row) + fires
    objects[own + ACTUATOR + FIRED_BY] = this.#messages[last]
  }

  /** Since when each node had its state, up to a message: what has not changed since the first ones stays. */
  #setSince(i: number, place: number, target: Float64Array, at: number): void {
    const { changes, lastChange, turning } = this.#parts
    const { bits } = this.#store.shape
    let missing = this.#mayHaveChanged(i)
    let found = 0
    const turn = (missing & turning) === 0 ? undefined : this.#lastTurn(i, place)
    if (turn !== undefined) {
      if (turn >= FIRST) found = missing & turning
      this.#setTimes(found, turn, target, at)
      missing &= ~turning
    }
    for (let from = place; missing !== 0 && from >= FIRST; from--) {
      from = lastChange(this.#limits, i, this.#values, from, FIRST, missing, changes)
      if (from < FIRST) break
      const changed = (changes[(this.#shown(i, from - 1) << bits) | this.#shown(i, from)] ?? 0) & missing
      found |= changed
      missing &= ~changed
      this.#setTimes(changed, from, target, at)
    }
    const first = changes[(this.#statesAt(i, 0) << bits) | this.#statesAt(i, 1)] ?? 0
    this.#setTimes(first & ~found, 1, target, at)
  }

  /** The last message up to a place at which firing began or ended; 0: at none, undefined: it has to be searched for. */
  #lastTurn(i: number, place: number): number | undefined {
    const fired = this.#fired[i] ?? 0
    const last = lastOf(fired)
    const firing = last <= place ? last : fired & PLACE
    if (firing === place) return undefined
    if (firing !== 0) return firing + 1
    const { changes, turning } = this.#parts
    const { bits } = this.#store.shape
    const second = changes[(this.#shown(i, FIRST - 1) << bits) | this.#shown(i, FIRST)] ?? 0
    return (second & turning) === 0 || place < FIRST ? 0 : FIRST
  }

  #setTimes(nodes: number, place: number, target: Float64Array, at: number): void {
    for (let left = nodes; left !== 0;) {
      const node = 31 - Math.clz32(left)
      target[at + node] = this.#times[place] ?? 0
      left &= ~(1 << node)
    }
  }

  /** Nodes that may have changed since the first message. */
  #mayHaveChanged(i: number): number {
    const { statesAt, parameters, mayChange } = this.#parts
    const least = statesAt(this.#limits, i, this.#bounds, 0)
    const greatest = statesAt(this.#limits, i, this.#bounds, parameters)
    return mayChange[(least << this.#store.shape.bits) | greatest] ?? 0
  }

  /** State bits after a message. */
  #statesAt(i: number, place: number): number {
    if (place < FIRST) {
      const row = this.rows[i] ?? 0
      return place === 0 ? this.#store.before(row) : this.#store.after(row)
    }
    return this.#shown(i, place)
  }

  /** The same by the numbers of a message. */
  #shown(i: number, place: number): number {
    const { statesAt, parameters } = this.#parts
    return statesAt(this.#limits, i, this.#values, place * parameters)
  }
}

function firedAgain(fired: number, newest: number): number {
  return ((timesOf(fired) + 1) << (2 * PLACE_BITS)) | (newest << PLACE_BITS) | lastOf(fired)
}

function timesOf(fired: number): number {
  return fired >>> (2 * PLACE_BITS)
}

function lastOf(fired: number): number {
  return (fired >>> PLACE_BITS) & PLACE
}

/** In a list that holds doubles, whatever the limits are: then it needs no look at each. */
function limitsOf(rows: readonly number[], store: RowStore, constant: number): readonly number[] {
  const limits = [0.5]
  for (const [i, row] of rows.entries()) limits[i] = store.nums[store.at(row) + store.layout.constants + constant] ?? 0
  return limits
}
