/** Stores the numbers of a batch's rows, and shared tables of the consequences of states. */
import { UNKNOWN, type PlugCall, type SensorNode, type TriggerEdge } from '../graph/graph.ts'
import type { NodeProperties } from '../graph/rule-properties.ts'
import type { Plug } from '../plug/plug.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel } from '../task/run.ts'
import { HAS_BEGUN } from '../task/state.ts'
import type { TaskState } from '../task/task-state.ts'
import { keptOf, NOT_ORDINARY, type KeptAnswer } from './ordinary-answers.ts'
import { integersInPlace } from './fixed-memory.ts'
import type { FieldSetHistory, FiredAfter, NotRun } from './field-set-history.ts'
import { RowFieldSets } from './row-field-sets.ts'
import { isSilent, PartTable, type Part } from './message-parts.ts'
import { evaluationOf, firingsOf, gateStates, type PossibleFiring } from './possible-firings.ts'
import {
  AFTER,
  AT_BITS,
  AT_COUNT,
  AT_FIRES,
  BEFORE,
  blockAt,
  COUNT,
  FIRED,
  FIRED_AFTER,
  FIRED_BY,
  FIRES,
  HEAD,
  layoutOf,
  objectsAt,
  HANDLE,
  MISSED,
  PLUG,
  PROPERTIES,
  notRunAt,
  PRIOR,
  SILENT,
  TIME,
  type Layout,
} from './row-layout.ts'
import type { BatchShape } from './batch-shape.ts'
import { isCalled } from './computed-sensors.ts'
import { edgeBitsOf, edgesOf, edgesTo, followingOf, type Following } from './followings.ts'

/**
 * Special entries of the table: not determined yet, and no consequences. Higher entries are indexes in `followings`.
 */
const NOT_LOOKED_UP = 0
export const NOTHING = 1

/** What a row needs to call a sensor's plug. */
export interface SensorCall {
  readonly call: PlugCall
  readonly own: NodeProperties
  readonly plug: Plug
  /** an unfrozen copy, because reading frozen lists is slow */
  readonly states: readonly string[]
  /** the plug's properties, if they are fixed */
  readonly properties: Readonly<Record<string, unknown>> | undefined
}
/** The members of a handle that this file uses. */
interface Attached {
  readonly task: { readonly model: TaskModel }
}

export interface OddGates {
  readonly before: number
  readonly now: number
}

/** A message for which a row waits for a sensor, or whose late result it takes. */
export interface OpenMessage {
  readonly message: Message
  /** the message before; undefined when the full state knows it */
  readonly before: Message | undefined
}

export type RawData = Readonly<Record<string, unknown>> | undefined

const NO_RAW_DATA: RawData[] = []
const FIRST_ROWS = 16

export class RowStore {
  readonly shape: BatchShape
  readonly layout: Layout
  ints = new Int32Array(0)
  nums = new Float64Array(0)
  /** by row: offset of its handle, stored here because handles are scattered in memory */
  offsets = new Float64Array(0)
  /** by row: count of the last message after which some sensor had no state or failed; -1: none */
  unknownAt = new Float64Array(0)
  /** by indexed row of stamped messages: the clock, epoch ms, when the last one arrived */
  arrivals = new Float64Array(0)
  /** data about firings */
  pastInts = new Int32Array(0)
  past = new Float64Array(0)
  /** consequences by key bits before and now: an index in `followings`; 1: none */
  readonly table: Int32Array
  /** the sensors that messages run */
  readonly parts: PartTable
  readonly fieldSetHistories = new RowFieldSets(this)
  /** history of the current message; undefined: that of the row that takes it individually */
  fieldSets: FieldSetHistory | undefined
  /** gate states as bits, by key bits */
  readonly gateBits: Int32Array
  /** edges of triggers that the source states set, as bits, by key bits */
  readonly edgeBits: Int32Array
  /** edges that begin an episode; the others end one */
  readonly beginMask: number
  readonly followings: (readonly Following[])[] = [[], []]
  /** by row, as in the layout: a task's own objects are scattered in memory */
  readonly objects: (object | number | undefined)[] = []
  /** by row, then by position: last raw data of the called sensors */
  readonly rawData: RawData[][] = []
  /** by row and actuator: the result of its last firing; separate from `objects`, because most return nothing */
  readonly answers: KeptAnswer[] = []
  /** whether any row ever had a sensor without a state; saves reading handles from memory */
  hadUnknown = false
  /** by row: gate states before and after its last message, as bits, if state bits do not determine them */
  readonly oddGates = new Map<number, OddGates>()
  /** whether any answer was ever kept */
  hasAnswers = false
  /** by row and position, for called sensors: the memory of the plug */
  readonly memories: unknown[] = []
  /** by row and position, for called sensors */
  readonly sensorCalls: SensorCall[] = []
  /** by row */
  readonly waiting: (OpenMessage | undefined)[] = []
  /** number of rows that fit into memory; grows only between messages */
  room = 0
  /** how often a row was freed */
  freed = 0
  /** the bits that gates and triggers depend on */
  readonly keyMask: number
  /** by sensor position: the last call */
  readonly #lastCalls: SensorCall[] = []
  readonly #free: number[] = []
  #used = 0

  /**
   * epoch ms: time of the current message; clock when the last stamped message or late result arrived. Avoids boxing
   */
  readonly clock: Float64Array

  constructor(shape: BatchShape, model: TaskModel, clock: Float64Array, isStamped: boolean) {
    this.clock = clock
    this.shape = shape
    this.layout = layoutOf(shape)
    this.keyMask = 2 ** shape.keyBits - 1
    this.table = integersInPlace(2 ** (2 * shape.keyBits))
    this.parts = new PartTable(shape, model, this.table, isStamped)
    this.gateBits = gateBitsOf(shape, model)
    this.edgeBits = edgeBitsOf(shape, model)
    this.beginMask = shape.edges.reduce((mask, { kind, shift }) => mask | (kind === HAS_BEGUN ? 1 << shift : 0), 0)
  }

  add(): number {
    const row = this.#free.pop() ?? this.#used++
    this.waiting[row] = undefined
    if (this.#used > this.room) {
      this.room = Math.max(FIRST_ROWS, 2 * this.room)
      this.nums = grown(this.nums, this.room * this.layout.size)
      this.ints = new Int32Array(this.nums.buffer)
      this.past = grown(this.past, this.room * this.layout.pastSize)
      this.pastInts = new Int32Array(this.past.buffer)
      this.offsets = grown(this.offsets, this.room)
      this.unknownAt = grown(this.unknownAt, this.room)
      if (this.parts.isStamped) this.arrivals = grown(this.arrivals, this.room)
    }
    return row
  }

  /** Returns the index of a row's first number. */
  at(row: number): number {
    return HEAD + row * this.layout.size
  }

  /** Returns the index of the first number of a row's past. */
  pastAt(row: number): number {
    return HEAD + row * this.layout.pastSize
  }

  free(row: number): void {
    const { objects } = this.layout
    this.objects.fill(undefined, row * objects, (row + 1) * objects)
    this.rawData[row] = NO_RAW_DATA
    const { length } = this.shape.sensors
    this.memories.fill(undefined, row * length, (row + 1) * length)
    if (this.hasAnswers) this.answers.fill(undefined, row * this.layout.actuators, (row + 1) * this.layout.actuators)
    this.oddGates.delete(row)
    this.#free.push(row)
    this.freed++
  }

  /** Sets all objects of a new row. Its numbers are set from the task's state. */
  setUp(row: number, handle: Attached): void {
    const { objects, shape } = this
    const own = row * this.layout.objects
    for (let o = 0; o < this.layout.objects; o++) objects[own + o] = undefined
    objects[own + HANDLE] = handle
    const { graph, properties } = handle.task.model
    for (const [i, { call }] of graph.actuators.entries()) {
      const { prepared, constant } = properties.of(call)
      const place = own + objectsAt(i)
      objects[place + PLUG] = call.plug
      objects[place + PROPERTIES] = prepared === undefined ? constant : undefined
    }
    for (const [i, sensor] of shape.sensors.entries()) {
      if (!isCalled(sensor)) continue
      const { call } = graph.sensors[sensor.slot] as SensorNode
      this.sensorCalls[row * graph.sensors.length + i] = this.#sensorCall(i, call, properties.of(call))
    }
  }

  /** Sets a row from a full state that has just processed message `count`, at `now`. */
  fill(row: number, state: TaskState, constants: readonly number[], count: number, now: number): void {
    const { nums, ints, layout } = this
    const d = this.at(row)
    let bits = 0
    const { isCalled } = layout
    this.rawData[row] = isCalled ? this.shape.sensors.map(({ slot }) => state.sensors[slot]?.rawData) : NO_RAW_DATA
    for (const [position, { slot, shift }] of this.shape.sensors.entries()) {
      const { state: own = 0, memory = 0, internalState } = state.sensors[slot] ?? {}
      if (isCalled) this.memories[row * this.shape.sensors.length + position] = internalState
      bits |= (own === UNKNOWN ? memory : own) << shift
    }
    for (const { kind, shift, place, actuator } of this.shape.edges) {
      if (((state.actuators[actuator]?.edges[place] ?? 0) & kind) !== 0) bits |= 1 << shift
    }
    ints[2 * d + BEFORE] = bits
    ints[2 * d + AFTER] = bits
    nums[d + COUNT] = count
    nums[d + TIME] = now
    for (const [i, constant] of constants.entries()) nums[d + layout.constants + i] = constant
    for (let n = 0; n < layout.nodes; n++) nums[d + layout.since + n] = state.observed[n]?.since ?? -1
    const p = this.pastAt(row)
    for (const [a, { firedAt }] of state.actuators.entries()) this.past[p + blockAt(layout, a) + FIRED] = firedAt
    this.past[this.#notRunAt(row) + PRIOR] = -1
    this.oddGates.delete(row)
    this.forgetFirings(row)
  }

  /** Counts a message that the full state takes in place of the row. */
  next(row: number, time: number): void {
    const d = this.at(row)
    this.nums[d + COUNT] = this.count(row) + 1
    this.nums[d + TIME] = time
  }

  /**
   * Returns whether a sensor had no state or failed at the row's last message or the one before. The next message must
   * then run all sensors.
   */
  hasUnknown(row: number): boolean {
    if (!this.hadUnknown) return false
    const unknownAt = this.unknownAt[row] as number
    return unknownAt !== -1 && this.count(row) - unknownAt < 2
  }

  /** Returns what a call needs, shared by consecutive rows of one graph. */
  #sensorCall(position: number, call: PlugCall, own: NodeProperties): SensorCall {
    const known = this.#lastCalls[position]
    if (known?.call === call && known.own === own) return known
    const properties = own.prepared === undefined ? own.constant : undefined
    const made = { call, own, plug: call.plug, states: [...call.plug.states], properties }
    this.#lastCalls[position] = made
    return made
  }

  /** Forgets firings that a synchronization has moved to the full state. */
  forgetFirings(row: number): void {
    const { past, pastInts, layout } = this
    const p = this.pastAt(row)
    const own = row * layout.objects
    this.objects[own + FIRES] = 0
    this.#setNotRun(row, 0, 0)
    for (let a = 0; a < layout.actuators; a++) {
      const block = p + blockAt(layout, a)
      past[block + AT_COUNT] = -1
      pastInts[2 * (block + AT_BITS) + 1] = 0
      this.objects[own + objectsAt(a) + FIRED_BY] = undefined
      this.objects[own + objectsAt(a) + FIRED_AFTER] = undefined
    }
  }

  /** Keeps an actuator's result, if it is ordinary. */
  keepAnswer(row: number, actuator: number, result: unknown): KeptAnswer | typeof NOT_ORDINARY {
    if (result === undefined && !this.hasAnswers) return undefined
    const kept = result === undefined ? undefined : keptOf(result)
    if (kept === NOT_ORDINARY) return kept
    if (result !== undefined) this.hasAnswers = true
    this.answers[row * this.layout.actuators + actuator] = kept
    return kept
  }

  handle(row: number): object | undefined {
    return this.objects[row * this.layout.objects + HANDLE] as object | undefined
  }

  /** Returns the number of firings since the last synchronization. */
  fires(row: number): number {
    return this.objects[row * this.layout.objects + FIRES] as number
  }

  /** Returns the number of firings before message `count`, the row's last one. */
  firesBefore(row: number, count: number): number {
    const block = this.firedAt(row, count)
    return block === undefined ? this.fires(row) : (this.past[block + AT_FIRES] ?? 0)
  }

  /** Returns where a firing at message `count` is stored, or undefined when no actuator last fired then. */
  firedAt(row: number, count: number): number | undefined {
    const { past, layout } = this
    for (let a = 0; a < layout.actuators; a++) {
      const block = this.pastAt(row) + blockAt(layout, a)
      if (past[block + AT_COUNT] === count) return block
    }
    return undefined
  }

  count(row: number): number {
    return this.nums[this.at(row) + COUNT] ?? 0
  }

  time(row: number): number {
    return this.nums[this.at(row) + TIME] ?? 0
  }

  /** Returns the clock of an active row, epoch ms. It is ahead of `time` when the message or a result was late. */
  clockOf(row: number, time: number): number {
    return this.parts.isStamped || this.waiting[row] !== undefined ? Math.max(time, this.clock[1] as number) : time
  }

  before(row: number): number {
    return this.ints[2 * this.at(row) + BEFORE] ?? 0
  }

  after(row: number): number {
    return this.ints[2 * this.at(row) + AFTER] ?? 0
  }

  /** Returns what messages up to the last one did not run; undefined: all ran all sensors. */
  notRun(row: number): NotRun | undefined {
    const { past } = this
    const at = this.#notRunAt(row)
    const prior = past[at + PRIOR] ?? -1
    return prior === -1 ? undefined : { prior, missed: past[at + MISSED] ?? 0, silent: past[at + SILENT] ?? 0 }
  }

  /** Counts more skipped sensors and silent messages. `prior`: state bits that each sensor had before its last run. */
  addNotRun(row: number, missed: number, silent: number, prior = this.prior(row)): void {
    const { past } = this
    const at = this.#notRunAt(row)
    past[at + PRIOR] = prior
    past[at + MISSED] = (past[at + MISSED] ?? 0) + missed
    past[at + SILENT] = (past[at + SILENT] ?? 0) + silent
  }

  #notRunAt(row: number): number {
    return this.pastAt(row) + notRunAt(this.layout)
  }

  #setNotRun(row: number, missed: number, silent: number): void {
    const at = this.#notRunAt(row)
    this.past[at + MISSED] = missed
    this.past[at + SILENT] = silent
  }

  /**
   * Returns the state bits that each sensor had before its last run; when all messages ran all sensors, those before
   * the last message.
   */
  prior(row: number): number {
    const prior = this.past[this.#notRunAt(row) + PRIOR] ?? -1
    return prior === -1 ? this.before(row) : prior
  }

  /**
   * Prepares a row for a message that runs only a part, before its states are set. `isFirst`: the message before ran
   * all.
   */
  takesPart(row: number, part: Part, isFirst: boolean): void {
    const { mask, missing } = part
    const prior = isFirst ? this.before(row) : this.prior(row)
    this.addNotRun(row, missing, isSilent(part) ? 1 : 0, (prior & ~mask) | (this.after(row) & mask))
  }

  /** Returns whether messages of a field-set history run all sensors. */
  ranAll({ fields }: Pick<FieldSetHistory, 'fields'>): boolean {
    return this.parts.of(fields)?.missing === 0
  }

  /** Returns what to keep of the situation before a firing. */
  firedAfter(row: number): FieldSetHistory | FiredAfter {
    const fieldSets = this.fieldSets ?? this.fieldSetHistories.of(row)
    const { past } = this
    const at = this.#notRunAt(row)
    if (past[at + PRIOR] === -1) return fieldSets
    return { fieldSets, missed: past[at + MISSED] ?? 0, silent: past[at + SILENT] ?? 0 }
  }

  /**
   * Returns the state bits after a message that fires nothing. `shown`: sensor states, with the edges from before it.
   */
  seen(shown: number, { edges }: Part = this.parts.whole): number {
    const { edgeMask } = this.shape
    if (edgeMask === 0) return shown
    const own = this.edgeBits[shown & this.keyMask] ?? 0
    const kept = (shown & own & this.beginMask) | ((shown | own) & ~this.beginMask)
    return (shown & ~edges) | (kept & edges)
  }

  /** Returns the gate states for state bits, as bits. */
  gatesOf(bits: number): number {
    return this.gateBits[bits & this.keyMask] ?? 0
  }

  /** Returns state indexes by slot. */
  states(bits: number): readonly number[] {
    const states: number[] = []
    for (const { slot, shift, mask } of this.shape.sensors) states[slot] = (bits >> shift) & mask
    return states
  }

  /**
   * Returns the index in `followings` for a table entry, determining it first if necessary; by default for the row's
   * states.
   */
  known(row: number, what: number, before = this.before(row), now = this.after(row)): number {
    if (what !== NOT_LOOKED_UP) return what
    const { task } = this.objects[row * this.layout.objects + HANDLE] as Attached
    return this.#lookUp(task.model, this.parts.whole, before, now)
  }

  /** Same for a message that runs a part, with the row's states. */
  knownOf(row: number, part: Part, what: number): number {
    if (what !== NOT_LOOKED_UP) return what
    const { task } = this.objects[row * this.layout.objects + HANDLE] as Attached
    return this.#lookUp(task.model, part, this.before(row), this.after(row))
  }

  /** Returns the consequences of state bits before and now. `model`: of any task of the shape. */
  followingOf(model: TaskModel, before: number, now: number): readonly Following[] {
    const what = this.entry(before, now)
    return this.followings[what === NOT_LOOKED_UP ? this.#lookUp(model, this.parts.whole, before, now) : what] ?? []
  }

  /** Returns the table entry for state bits before and now. */
  entry(before: number, now: number): number {
    return this.table[this.#entryAt(before, now)] ?? 0
  }

  #entryAt(before: number, now: number): number {
    const { keyMask } = this
    const { keyBits, edgeMask } = this.shape
    return ((before & keyMask) << keyBits) | (now & keyMask & ~edgeMask) | (before & edgeMask)
  }

  /** Returns the index in `followings` for these firings, or NOTHING. `now`: state bits after the message. */
  place(firings: readonly PossibleFiring[], now: number, part = this.parts.whole): number {
    if (firings.length === 0) return NOTHING
    const own = this.edgeBits[now & this.keyMask] ?? 0
    const list = firings.map((firing) => {
      const { slot } = firing.actuator
      const edgeMask = part.edges & edgesTo(this.shape, slot)
      return followingOf(firing, edgeMask, own & edgeMask)
    })
    return this.followings.push(list) - 1
  }

  /** Fills a table entry using a task of the shape. Returns its index in `followings`. */
  #lookUp(model: TaskModel, part: Part, before: number, now: number): number {
    const { sensors } = model.graph
    const run = this.shape.sensors.filter(({ slot }) => part.runs[slot])
    const runs = new Set(run.map(({ slot }) => sensors[slot] as SensorNode))
    const edges = ({ order }: TriggerEdge): number => edgesOf(this.shape, order, before)
    const firings = firingsOf(evaluationOf(model), runs, this.states(before), this.states(now), edges)
    const what = this.place(firings, now, part)
    part.table[this.#entryAt(before, now)] = what
    return what
  }
}

function grown(old: Float64Array, rows: number): Float64Array<ArrayBuffer> {
  const nums = new Float64Array(HEAD + rows)
  nums.set(old)
  return nums
}

function gateBitsOf(shape: BatchShape, { graph, settings }: TaskModel): Int32Array {
  const bits = integersInPlace(2 ** shape.keyBits)
  if (shape.gates === 0) return bits
  for (let key = 0; key < bits.length; key++) {
    const states: number[] = []
    for (const { slot, shift, mask } of shape.sensors) states[slot] = (key >> shift) & mask
    for (const [g, state] of gateStates(graph, states, settings.gatesNeedFullObservation).entries()) {
      if (state === 1) bits[key] = (bits[key] ?? 0) | (1 << g)
    }
  }
  return bits
}
