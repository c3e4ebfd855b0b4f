/** The memory of a batch: its rows' numbers, and what follows from states as tables that all rows share. */
import { UNKNOWN, type PlugCall, type SensorNode, type TriggerEdge } from '../graph/graph.ts'
import type { NodeProperties } from '../graph/rule-properties.ts'
import type { Plug } from '../plug/plug.ts'
import type { TaskModel } from '../task/run.ts'
import { HAS_BEGUN } from '../task/state.ts'
import type { TaskState } from '../task/task-state.ts'
import { keptOf, NOT_ORDINARY, type KeptAnswer } from './ordinary-answers.ts'
import { integersInPlace } from './fixed-memory.ts'
import type { FieldSetHistory } from './field-set-history.ts'
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
  notRunAt,
  PRIOR,
  SILENT,
  TIME,
  type Layout,
} from './row-layout.ts'
import type { BatchShape } from './batch-shape.ts'
import { edgeBitsOf, edgesOf, edgesTo, followingOf, type Following } from './followings.ts'
import type { FiredAfter, NotRun } from './not-run.ts'

/** Entries of the table: not known yet; nothing follows. What is above says where in `followings` it stands. */
const NOT_LOOKED_UP = 0
export const NOTHING = 1

/** What a call of a sensor's plug needs. */
export interface SensorCall {
  readonly call: PlugCall
  readonly own: NodeProperties
  readonly plug: Plug
  /** a copy that is not frozen: reading frozen lists is slow */
  readonly states: readonly string[]
  /** when they need nothing else */
  readonly properties: Readonly<Record<string, unknown>> | undefined
}
/** What is asked of a handle here. */
interface Attached {
  readonly task: { readonly model: TaskModel }
}

export interface OddGates {
  readonly before: number
  readonly now: number
}

export type RawData = Readonly<Record<string, unknown>> | undefined

const NO_RAW_DATA: RawData[] = []
const FIRST_ROWS = 16

export class RowStore {
  readonly shape: BatchShape
  readonly layout: Layout
  ints = new Int32Array(0)
  nums = new Float64Array(0)
  /** by row: the offset of its handle, which is somewhere else in memory */
  offsets = new Float64Array(0)
  /** by row: count of the message after which some sensor has no state, or failed; -1: none */
  unknownAt = new Float64Array(0)
  /** by row of stamped messages: epoch ms of the clock when the last one came, while it is indexed */
  arrivals = new Float64Array(0)
  /** what is kept of firings */
  pastInts = new Int32Array(0)
  past = new Float64Array(0)
  /** what follows, by key bits before and now: a place in a list of lists; 1: nothing */
  readonly table: Int32Array
  /** which sensors messages run */
  readonly parts: PartTable
  readonly fieldSetHistories = new RowFieldSets(this)
  /** of the message at hand; undefined: that of the row, which takes it by itself */
  fieldSets: FieldSetHistory | undefined
  /** gate states as bits, by key bits */
  readonly gateBits: Int32Array
  /** edges of triggers that are set when their sources show certain states, as bits, by key bits */
  readonly edgeBits: Int32Array
  /** edges that begin; all others end */
  readonly beginMask: number
  readonly followings: (readonly Following[])[] = [[], []]
  /** by row, as the layout says: a fleet's own objects are scattered in memory */
  readonly objects: (object | number | undefined)[] = []
  /** by row, then by position: what called sensors gave last */
  readonly rawData: RawData[][] = []
  /** by row and actuator: what it gave when it fired last; beside `objects`, since most give nothing */
  readonly answers: KeptAnswer[] = []
  /** whether a sensor of any row ever had no state: asking a handle touches its memory */
  hadUnknown = false
  /** by row: what gates were last before its last message and after it, as bits, when that is not what state bits say */
  readonly oddGates = new Map<number, OddGates>()
  /** whether any was ever kept */
  hasAnswers = false
  /** by row and position, of called sensors */
  readonly sensorCalls: SensorCall[] = []
  /** rows that there is memory for; it grows between messages, never within one */
  room = 0
  /** how often a row was given away */
  freed = 0
  /** the bits on which gates and triggers depend */
  readonly keyMask: number
  /** by position of the sensor: the call that was made last */
  readonly #lastCalls: SensorCall[] = []
  readonly #free: number[] = []
  #used = 0

  /** epoch ms of the message at hand, and of the clock when a stamped one or a late answer was taken last; cells cost no box */
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

  /** Place of a row's first number. */
  at(row: number): number {
    return HEAD + row * this.layout.size
  }

  /** The same of its past. */
  pastAt(row: number): number {
    return HEAD + row * this.layout.pastSize
  }

  free(row: number): void {
    const { objects } = this.layout
    this.objects.fill(undefined, row * objects, (row + 1) * objects)
    this.rawData[row] = NO_RAW_DATA
    if (this.hasAnswers) this.answers.fill(undefined, row * this.layout.actuators, (row + 1) * this.layout.actuators)
    this.oddGates.delete(row)
    this.#free.push(row)
    this.freed++
  }

  /** Sets a row to a full state that has just seen the message `count`, at `now`. */
  fill(row: number, state: TaskState, constants: readonly number[], count: number, now: number): void {
    const { nums, ints, layout } = this
    const d = this.at(row)
    let bits = 0
    const { isCalled } = layout
    this.rawData[row] = isCalled ? this.shape.sensors.map(({ slot }) => state.sensors[slot]?.rawData) : NO_RAW_DATA
    for (const { slot, shift } of this.shape.sensors) {
      const { state: own = 0, memory = 0 } = state.sensors[slot] ?? {}
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

  /** A message that the full state takes in its place. */
  next(row: number, time: number): void {
    const d = this.at(row)
    this.nums[d + COUNT] = this.count(row) + 1
    this.nums[d + TIME] = time
  }

  /** Whether some sensor had no state, or failed, at the row's last message or the one before: then the next one has to run all. */
  hasUnknown(row: number): boolean {
    if (!this.hadUnknown) return false
    const unknownAt = this.unknownAt[row] as number
    return unknownAt !== -1 && this.count(row) - unknownAt < 2
  }

  /** Rows of one graph, which mostly come one after the other, share what their calls need. */
  sensorCall(position: number, call: PlugCall, own: NodeProperties): SensorCall {
    const known = this.#lastCalls[position]
    if (known?.call === call && known.own === own) return known
    const properties = own.prepared === undefined ? own.constant : undefined
    const made = { call, own, plug: call.plug, states: [...call.plug.states], properties }
    this.#lastCalls[position] = made
    return made
  }

  /** What was kept for a synchronize is in the full state now. */
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

  /** Keeps what an actuator gave, unless it is not ordinary. */
  keepAnswer(row: number, actuator: number, result: unknown): KeptAnswer | typeof NOT_ORDINARY {
    if (result === undefined && !this.hasAnswers) return undefined
    const kept = result === undefined ? undefined : keptOf(result)
    if (kept === NOT_ORDINARY) return kept
    if (result !== undefined) this.hasAnswers = true
    this.answers[row * this.layout.actuators + actuator] = kept
    return kept
  }

  /** The handle of a row; undefined when the row is free. */
  handle(row: number): object | undefined {
    return this.objects[row * this.layout.objects + HANDLE] as object | undefined
  }

  /** Firings since the last synchronize. */
  fires(row: number): number {
    return this.objects[row * this.layout.objects + FIRES] as number
  }

  /** The same before the message `count`, the row's last. */
  firesBefore(row: number, count: number): number {
    const block = this.firedAt(row, count)
    return block === undefined ? this.fires(row) : (this.past[block + AT_FIRES] ?? 0)
  }

  /** Place of what is kept of a firing at the message `count`; undefined when no actuator fired last at it. */
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

  /** Epoch ms of the clock, of a row at work: ahead of its message when that came late. */
  clockOf(time: number): number {
    return this.parts.isStamped ? Math.max(time, this.clock[1] as number) : time
  }

  before(row: number): number {
    return this.ints[2 * this.at(row) + BEFORE] ?? 0
  }

  after(row: number): number {
    return this.ints[2 * this.at(row) + AFTER] ?? 0
  }

  /** What messages did not run up to the last one; undefined: all ran all. */
  notRun(row: number): NotRun | undefined {
    const { past } = this
    const at = this.#notRunAt(row)
    const prior = past[at + PRIOR] ?? -1
    return prior === -1 ? undefined : { prior, missed: past[at + MISSED] ?? 0, silent: past[at + SILENT] ?? 0 }
  }

  /** More of it. `prior`: state bits of each sensor before it ran last. */
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

  /** State bits of each sensor before it ran last; those before the last message, when all messages ran all. */
  prior(row: number): number {
    const prior = this.past[this.#notRunAt(row) + PRIOR] ?? -1
    return prior === -1 ? this.before(row) : prior
  }

  /** A message that runs only a part is taken: before its states are set. `isFirst`: the one before it ran all. */
  takesPart(row: number, part: Part, isFirst: boolean): void {
    const { mask, missing } = part
    const prior = isFirst ? this.before(row) : this.prior(row)
    this.addNotRun(row, missing, isSilent(part) ? 1 : 0, (prior & ~mask) | (this.after(row) & mask))
  }

  /** Whether messages of a field-set history run all sensors. */
  ranAll({ fields }: Pick<FieldSetHistory, 'fields'>): boolean {
    return this.parts.of(fields)?.missing === 0
  }

  /** What is kept of what came before a firing. */
  firedAfter(row: number): FieldSetHistory | FiredAfter {
    const fieldSets = this.fieldSets ?? this.fieldSetHistories.of(row)
    const { past } = this
    const at = this.#notRunAt(row)
    if (past[at + PRIOR] === -1) return fieldSets
    return { fieldSets, missed: past[at + MISSED] ?? 0, silent: past[at + SILENT] ?? 0 }
  }

  /**
   * State bits after a message unless an actuator fires. `shown`: those of its sensors, with edges as they were before it.
   */
  seen(shown: number, { edges }: Part = this.parts.whole): number {
    const { edgeMask } = this.shape
    if (edgeMask === 0) return shown
    const own = this.edgeBits[shown & this.keyMask] ?? 0
    const kept = (shown & own & this.beginMask) | ((shown | own) & ~this.beginMask)
    return (shown & ~edges) | (kept & edges)
  }

  /** Gates by state bits, as bits. */
  gatesOf(bits: number): number {
    return this.gateBits[bits & this.keyMask] ?? 0
  }

  /** State indexes by slot. */
  states(bits: number): readonly number[] {
    const states: number[] = []
    for (const { slot, shift, mask } of this.shape.sensors) states[slot] = (bits >> shift) & mask
    return states
  }

  /** Place in `followings` of an entry of the table that was read, known or not; by the row's states unless others are given. */
  known(row: number, what: number, before = this.before(row), now = this.after(row)): number {
    if (what !== NOT_LOOKED_UP) return what
    const { task } = this.objects[row * this.layout.objects + HANDLE] as Attached
    return this.#lookUp(task.model, this.parts.whole, before, now)
  }

  /** The same of a message that runs a part, by the row's states. */
  knownOf(row: number, part: Part, what: number): number {
    if (what !== NOT_LOOKED_UP) return what
    const { task } = this.objects[row * this.layout.objects + HANDLE] as Attached
    return this.#lookUp(task.model, part, this.before(row), this.after(row))
  }

  /** The same by any task of the shape. */
  followingOf(model: TaskModel, before: number, now: number): readonly Following[] {
    const what = this.entry(before, now)
    return this.followings[what === NOT_LOOKED_UP ? this.#lookUp(model, this.parts.whole, before, now) : what] ?? []
  }

  /** What follows from state bits before and now, as the table has it. */
  entry(before: number, now: number): number {
    return this.table[this.#entryAt(before, now)] ?? 0
  }

  #entryAt(before: number, now: number): number {
    const { keyMask } = this
    const { keyBits, edgeMask } = this.shape
    return ((before & keyMask) << keyBits) | (now & keyMask & ~edgeMask) | (before & edgeMask)
  }

  /** Place in `followings` of what is found to follow; NOTHING when nothing does. `now`: state bits after the message. */
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

  /** Fills a table entry with the help of a task of the shape; returns its place in `followings`. */
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
