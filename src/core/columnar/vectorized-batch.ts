/**
 * Processes many rows of one batch that listen to the same resource. As long as possible, each message is one pass over
 * the rows' limits that finds the rows that fire. The rows' own numbers are updated later, from the values of the last
 * messages: when one of the rows is read (which ends the vectorized batch) or when no more messages can be kept.
 *
 * VECTOR-1 after a vectorized batch has ended, each row is as if it had taken its messages individually
 * VECTOR-2 rows act in their order: rows that are not reached when the batch ends have not received the message
 */
import { isExact } from '#kernel'
import type { Message } from '../task/origin.ts'
import { lastValue, type FieldSetHistory, type FiredAfter } from './field-set-history.ts'
import { isSilent, type Part } from './message-parts.ts'
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
  FIRED_AFTER,
  FIRED_BY,
  firedBeforeAt,
  FIRES,
  FLAG,
  objectsAt,
  PROPERTIES,
  HANDLE,
  TIME,
} from './row-layout.ts'
import { FiringHistory, MAX_KEPT } from './firing-history.ts'
import { firingRows, type FireRows, type FiringRows } from './firing-loop.ts'
import { limitIndex, limitsOf, MIN_INDEXED, type LimitIndex } from './limit-index.ts'
import { parametersOf } from './value-source.ts'
import type { EpochSource, Limits, RecordEpoch, RowEvents } from './row-code.ts'
import type { RowStore } from './row-store.ts'
import { VectorHistory } from './vector-history.ts'
import { FIRST, VectorPast } from './vector-past.ts'
import type { TakenTogether } from './vector-failures.ts'
import { VectorSince } from './vector-since.ts'

/** fewer rows are not worth it */
export const MIN_VECTORIZED = 8
/** Messages to keep, at first and at least, including two that the rows store themselves; ... */
const KEPT = 256
/** ... later as many per row, because updating many rows takes long, ... */
const KEPT_PER_ROW = 4
/** ... with a limit on rows times messages, because each takes a bit of memory. */
const MAX_FIRINGS = 2 ** 22
/** Messages after which a new list of results starts. Storing young objects in an old list costs more than all else. */
const ANSWERS_FOR = 256
const SORTED_AFTER = 16
const ACTUATOR = objectsAt(0)

export class VectorizedBatch implements TakenTogether {
  readonly rows: readonly number[]
  /** the rows again, in one typed array close together in memory */
  readonly #rowAt: Int32Array
  readonly #parts: VectorDependencies
  readonly #store: RowStore
  readonly #batch: RowEvents
  readonly limits: Limits
  values: Float64Array
  /** the minimum values by parameter, then the maximum values */
  readonly bounds: Float64Array
  times: Float64Array
  readonly #mayKeep: number
  readonly messages: (Message | undefined)[] = []
  readonly fieldSetHistories: (FieldSetHistory | undefined)[] = []
  readonly #runs: (Part | undefined)[] = []
  #missed: Int32Array
  #silent: Int32Array
  #isPartly = false
  #beganWhole = true
  history: FiringHistory
  /** null: the limits are not worth sorting */
  #index: LimitIndex | null | undefined
  #messagesLooked = 0
  readonly #since: VectorSince
  readonly #calls: FiringRows
  readonly #fireRows: FireRows
  #epoch: RecordEpoch | undefined
  #firingEpoch: RecordEpoch | undefined
  #newest = FIRST - 1
  #at: { readonly place: number } | undefined
  readonly #kept: VectorHistory | undefined
  /** number of firing messages since the current list of results began */
  #answersFor = 0

  /**
   * Returns undefined when the rows, whose last message was `last`, cannot be vectorized: one has no handle, is ahead
   * or behind, or has an actuator whose properties are resolved for each call.
   */
  static of(
    rows: readonly number[],
    parts: VectorDependencies,
    batch: RowEvents,
    last: Message,
    fieldSets: FieldSetHistory,
  ): VectorizedBatch | undefined {
    const { store } = parts
    const time = store.time(rows[0] ?? 0)
    for (const row of rows) {
      const handle = store.objects[row * store.layout.objects + HANDLE] as { isAway: boolean } | undefined
      const isSimple = store.objects[row * store.layout.objects + ACTUATOR + PROPERTIES] !== undefined
      if (handle === undefined || handle.isAway || !isSimple || store.time(row) !== time) return undefined
      if (store.hasUnknown(row)) return undefined
    }
    const vectorized = new VectorizedBatch(rows, parts, batch)
    const fits =
      vectorized.#beginAt(last, fieldSets) &&
      rows.every((row, i) => vectorized.#shown(i, FIRST - 1) === store.after(row))
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
    this.#kept = batch.history && new VectorHistory(batch.history, rows)
    this.limits = Array.from({ length: constants }, (_, c) => limitsOf(rows, store, c))
    this.#mayKeep = Math.max(KEPT, Math.min(KEPT_PER_ROW * length, MAX_FIRINGS / length, MAX_KEPT) | 0)
    this.times = new Float64Array(KEPT)
    this.#missed = new Int32Array(KEPT)
    this.#silent = new Int32Array(KEPT)
    this.values = new Float64Array(KEPT * parts.parameters)
    this.bounds = new Float64Array(2 * parts.parameters)
    this.history = new FiringHistory(length, KEPT)
    this.#rowAt = Int32Array.from(rows)
    this.#since = new VectorSince(parts, this)
    this.#calls = firingRows(rows, this.#rowAt, store)
    const [plug] = this.#calls.plugs
    this.#fireRows = parts.fireRows(this.#calls.plugs.every((one) => one === plug) ? plug : undefined, batch.actuators)
  }

  /** Returns the time of the newest message, for a plug that asks during its call: its row has taken the message. */
  get time(): number {
    return this.times[this.#newest] ?? 0
  }

  get message(): Message | undefined {
    return this.messages[this.#newest]
  }

  get fieldSets(): FieldSetHistory | undefined {
    return this.fieldSetHistories[this.#newest]
  }

  /** Returns how many rows have taken the message; if fewer than all, the vectorized batch has ended. */
  take(message: Message, now: number, fieldSets: FieldSetHistory, part: Part): number {
    const { parameters } = this.#parts
    const { failures } = this.#since
    if (!failures.isEmpty && !this.#goesOnAfterFailures(part)) {
      this.end()
      return 0
    }
    if (this.#newest === this.times.length - 1) {
      this.#settle()
      this.#begin(this.#newest)
      if (this.times.length < this.#mayKeep) this.#keepMore()
    }
    const place = this.#newest + 1
    if (!this.#read(message, place, part)) {
      this.end()
      return 0
    }
    this.#newest = place
    this.fieldSetHistories[place] = fieldSets
    this.#runs[place] = part
    const isDecided = (part.missing === 0 && !this.#isPartly) || this.#takesPart(place, part)
    this.times[place] = now
    this.messages[place] = message
    this.#widen(place)
    const fires = isDecided && !failures.has(place) && this.#findFiring(place * parameters)
    const { records, firings } = this.#batch
    if (records !== undefined || (fires && firings !== undefined)) return this.#takeRecorded(message, place, fires)
    return fires ? this.#fire(message) : this.rows.length
  }

  #takeRecorded(message: Message, place: number, fires: boolean): number {
    const { records, firings } = this.#batch
    const all = records === undefined ? undefined : (this.#epoch ??= records.beginEpoch(this.#source()))
    const fired = fires && firings ? (this.#firingEpoch ??= firings.beginEpoch(this.#source())) : undefined
    all?.begin(place, message)
    fired?.begin(place, message)
    if (!fires) {
      all?.end(this.rows.length, undefined, undefined)
      return this.rows.length
    }
    const firing = this.history.copy(place)
    const reached = this.#fire(message)
    all?.end(reached, firing, this.#calls.answers?.slice())
    fired?.end(reached, firing, undefined)
    return reached
  }

  #source(): EpochSource {
    return { parts: this.#parts, rows: this.rows, limits: this.limits, values: this.values, times: this.times }
  }

  /** Finds the rows that fire for the numbers from `at` on. Returns false when none can fire. */
  #findFiring(at: number): boolean {
    const { sets } = this.history
    const first = this.history.at(this.#newest)
    if (this.#index) {
      this.#index.find(sets, first, this.values, at)
      return true
    }
    const { sweep, condition, store } = this.#parts
    if (this.#index === undefined && ++this.#messagesLooked > SORTED_AFTER) {
      const { length } = this.rows
      this.#index =
        (length < MIN_INDEXED
          ? undefined
          : limitIndex(store.shape, condition, parametersOf(store.shape), this.limits, length)) ?? null
    }
    return sweep(this.limits, sets, first, this.values, at) !== 0
  }

  /** Brings the rows up to date. */
  end(): void {
    if (this.isOver) return
    this.#calls.isOver = true
    this.#settle()
  }

  /** Whether the batch has ended: its rows are up to date and continue individually. */
  get isOver(): boolean {
    return this.#calls.isOver
  }

  #fire(message: Message): number {
    const reached = this.#fireRowsOf(message)
    if (!this.isOver) this.#kept?.fired(this.#newest, this.#calls.answers)
    return reached
  }

  #fireRowsOf(message: Message): number {
    const batch = this.#batch
    batch.current = message
    batch.currentRow = -1
    batch.endFirings(this.#fireAll())
    const reached = this.#reached
    this.#at = undefined
    return this.isOver ? reached : this.rows.length
  }

  get #reached(): number {
    return this.#at === undefined ? this.rows.length : this.#at.place + 1
  }

  #fireAll(): number {
    const calls = this.#calls
    const context = this.#batch.beginFirings(this.#parts.trigger)
    // The bits determine the first row; no plug can ask before that.
    this.#at = context
    const { sets, words } = this.history
    if (calls.answers !== undefined && ++this.#answersFor > ANSWERS_FOR) {
      this.#answersFor = 0
      calls.answers = [...calls.answers]
    }
    return this.#fireRows(calls, context, sets, this.history.at(this.#newest), 0, words)
  }

  /**
   * Starts with rows whose last message was `last`. Returns false when that message, or an earlier one that is needed,
   * lacks a number.
   */
  #beginAt(last: Message, fieldSets: FieldSetHistory): boolean {
    const at = (FIRST - 1) * this.#parts.parameters
    for (const [p, name] of this.#parts.names.entries()) {
      const value = lastValue(last, fieldSets, name)
      if (typeof value !== 'number' || !isExact(value)) return false
      this.values[at + p] = value
    }
    this.fieldSetHistories[FIRST - 1] = fieldSets
    this.#runs[FIRST - 1] = this.#store.parts.of(fieldSets.fields) ?? undefined
    this.messages[FIRST - 1] = last
    this.#begin(FIRST - 1)
    return true
  }

  #begin(place: number): void {
    const { parameters } = this.#parts
    const first = FIRST - 1
    if (this.#epoch !== undefined || this.#firingEpoch !== undefined) {
      // Their records read these lists.
      this.#epoch = undefined
      this.#firingEpoch = undefined
      this.values = this.values.slice()
      this.times = this.times.slice()
    }
    this.values.copyWithin(first * parameters, place * parameters, (place + 1) * parameters)
    const [fieldSets, part, message] = [this.fieldSetHistories[place], this.#runs[place], this.messages[place]]
    this.history.clear(this.#newest)
    this.messages.length = 0
    this.#kept?.clear()
    this.#since.failures.clear()
    this.fieldSetHistories.length = 0
    this.#runs.length = 0
    this.fieldSetHistories[first] = fieldSets
    this.#runs[first] = part
    this.messages[first] = message
    this.#newest = first
    this.#isPartly = false
    this.#since.hasUndecided = false
    this.#beganWhole = part?.missing === 0
    this.#missed.fill(0)
    this.#silent.fill(0)
    this.times[first] = this.#store.time(this.rows[0] ?? 0)
    this.bounds.fill(Number.POSITIVE_INFINITY, 0, parameters).fill(Number.NEGATIVE_INFINITY, parameters)
    this.#widen(first)
  }

  /** Grows the memory after `begin`, because batches that end soon need little. */
  #keepMore(): void {
    const { parameters } = this.#parts
    const kept = Math.min(2 * this.times.length, this.#mayKeep)
    const values = new Float64Array(kept * parameters)
    const times = new Float64Array(kept)
    values.set(this.values.subarray(0, FIRST * parameters))
    times.set(this.times.subarray(0, FIRST))
    this.values = values
    this.times = times
    this.#missed = new Int32Array(kept)
    this.#silent = new Int32Array(kept)
    this.history = new FiringHistory(this.rows.length, kept)
  }

  #read(message: Message, place: number, part: Part): boolean {
    const { read, parameters, names } = this.#parts
    const values = this.values
    const at = place * parameters
    if (part.missing === 0) {
      if (read(message, values, at)) return true
      const isEven = part.lacks.length === 0 && this.#runs[place - 1]?.missing === 0
      return isEven && !this.#isObserved && this.#since.failures.read(message, place)
    }
    for (let p = 0; p < parameters; p++) {
      const value = message[names[p] as string]
      if (value === undefined) values[at + p] = values[at - parameters + p] ?? 0
      else if (typeof value === 'number' && isExact(value)) values[at + p] = value
      else return false
    }
    return true
  }

  get #isObserved(): boolean {
    const { records, firings } = this.#batch
    return records !== undefined || firings !== undefined || this.#kept !== undefined
  }

  #goesOnAfterFailures(part: Part): boolean {
    if (this.#isObserved) return false
    const isFull = this.#newest === this.times.length - 1
    return (!isFull && part.missing === 0) || !this.#since.failures.isNear(this.#newest)
  }

  #takesPart(place: number, part: Part): boolean {
    const { runs, missing } = part
    if (!this.#isPartly) {
      this.#isPartly = true
      this.#missed.fill(0, 0, place)
      this.#silent.fill(0, 0, place)
    }
    const isDecided = this.#parts.decides(runs)
    if (!isDecided) this.#since.hasUndecided = true
    this.#missed[place] = (this.#missed[place - 1] ?? 0) + missing
    this.#silent[place] = (this.#silent[place - 1] ?? 0) + (isSilent(part) ? 1 : 0)
    return isDecided
  }

  #widen(place: number): void {
    const { parameters } = this.#parts
    const bounds = this.bounds
    for (let p = 0; p < parameters; p++) {
      const value = this.values[place * parameters + p] ?? 0
      if (value < (bounds[p] ?? 0)) bounds[p] = value
      if (value > (bounds[parameters + p] ?? 0)) bounds[parameters + p] = value
    }
  }

  #settle(): void {
    const reached = this.#reached
    const history = this.history
    history.leaveOut(this.#newest, reached)
    history.sumUp(FIRST, this.#newest)
    if (this.#kept !== undefined) this.#settleHistory(this.#kept, reached)
    for (let i = 0; i < this.rows.length; i++) this.#settleRow(i, i < reached ? this.#newest : this.#newest - 1)
  }

  #settleHistory(kept: VectorHistory, reached: number): void {
    const at = { reached, newest: this.#newest, acting: this.#at?.place, answers: this.#calls.answers }
    kept.settle(new VectorPast(this.#source(), this.#store), this.messages, this.history, this.#since, at)
  }

  /** `last`: the newest message that the row at place `i` has taken. */
  #settleRow(i: number, last: number): void {
    if (last < FIRST) return
    const { nums, ints, layout } = this.#store
    const d = this.#store.at(this.rows[i] ?? 0)
    const { failures } = this.#since
    if (!failures.isEmpty) failures.settle(i, last)
    if (this.history.times[i] !== 0) this.#settleFirings(i)
    if (this.#isPartly) this.#settlePartly(i, last)
    // When a message makes the bits determine the gate states again, its changes are stored immediately
    // (unknown-states.ts).
    const known = failures.isOdd(i, last - 1) && !failures.has(last) ? last : last - 1
    this.#since.set(i, known, nums, d + layout.since, true)
    const before = this.statesAt(i, known)
    ints[2 * d + AFTER] = this.statesAt(i, last)
    ints[2 * d + BEFORE] = before
    nums[d + COUNT] = (nums[d + COUNT] ?? 0) + last - (FIRST - 1)
    nums[d + TIME] = this.times[last] ?? 0
  }

  #settlePartly(i: number, last: number): void {
    const store = this.#store
    const row = this.rows[i] ?? 0
    const ranAll = this.#runs[last]?.missing === 0
    let prior = this.#beganWhole && !ranAll ? store.before(row) : store.prior(row)
    for (const { slot, mask, shift } of ranAll ? [] : store.shape.sensors) {
      let place = last
      while (place >= FIRST && this.#runs[place]?.runs[slot] !== true) place--
      if (place < FIRST) continue
      const own = mask << shift
      prior = (prior & ~own) | (this.statesAt(i, place - 1) & own)
    }
    store.addNotRun(row, this.#missed[last] ?? 0, this.#silent[last] ?? 0, prior)
  }

  #settleFirings(i: number): void {
    const store = this.#store
    const { nums, past, pastInts, layout, objects } = store
    const { answers } = this.#calls
    const row = this.rows[i] ?? 0
    const fires = this.history.times[i] as number
    const last = this.history.last[i] as number
    const before = this.history.before[i] as number
    if (answers !== undefined) {
      store.hasAnswers = true
      store.answers[row] = answers[i]
    }
    const p = store.pastAt(row)
    const d = store.at(row)
    const own = row * layout.objects
    const hadFired = fires > 1 || past[p + AT_COUNT] !== -1
    past[p + firedBeforeAt(layout, 0)] = (fires > 1 ? this.times[before] : past[p + FIRED]) ?? 0
    past[p + FIRED] = this.times[last] ?? 0
    past[p + AT_COUNT] = (nums[d + COUNT] ?? 0) + last - (FIRST - 1)
    past[p + AT_FIRES] = store.fires(row) + fires - 1
    pastInts[2 * (p + AT_BITS)] = this.statesAt(i, last - 1) | (hadFired ? FLAG : 0)
    pastInts[2 * (p + AT_BITS) + 1] = this.statesAt(i, last)
    for (let n = 0; n < layout.nodes; n++) past[p + AT_SINCE + n] = nums[d + layout.since + n] ?? 0
    this.#since.set(i, last - 1, past, p + AT_SINCE, true)
    objects[own + FIRES] = store.fires(row) + fires
    objects[own + ACTUATOR + FIRED_BY] = this.messages[last]
    objects[own + ACTUATOR + FIRED_AFTER] = this.#firedAfter(i, last)
  }

  #firedAfter(i: number, place: number): FieldSetHistory | FiredAfter | undefined {
    const fieldSets = this.fieldSetHistories[place]
    const before = this.#store.notRun(this.#rowAt[i] ?? 0)
    const { failures } = this.#since
    const gates = failures.isOdd(i, place - 1) ? failures.gatesAt(i, place - 1) : undefined
    const missed = (before?.missed ?? 0) + (this.#isPartly ? (this.#missed[place] ?? 0) : 0)
    const silent = (before?.silent ?? 0) + (this.#isPartly ? (this.#silent[place] ?? 0) : 0)
    return fieldSets === undefined || (missed === 0 && gates === undefined)
      ? fieldSets
      : { fieldSets, missed, silent, gates }
  }

  silentUpTo(row: number, place: number): number {
    return (this.#store.notRun(row)?.silent ?? 0) + (this.#isPartly ? (this.#silent[place] ?? 0) : 0)
  }

  statesAt(i: number, place: number): number {
    if (place < FIRST) {
      const row = this.rows[i] ?? 0
      return place === 0 ? this.#store.before(row) : this.#store.after(row)
    }
    return this.#shown(i, place)
  }

  #shown(i: number, place: number): number {
    const { statesAt, parameters } = this.#parts
    return statesAt(this.limits, i, this.values, place * parameters)
  }
}
