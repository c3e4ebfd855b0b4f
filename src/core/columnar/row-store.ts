/** The memory of a batch: its rows' numbers, and what follows from states as tables that all rows share. */
import type { PlugCall, SensorNode } from '../graph/graph.ts'
import type { NodeProperties } from '../graph/rule-properties.ts'
import type { Plug } from '../plug/plug.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel } from '../task/run.ts'
import type { Match } from '../task/fire.ts'
import type { TaskState } from '../task/task-state.ts'
import type { KeptAnswer } from './ordinary-answers.ts'
import { firingsOf, gateStates } from './possible-firings.ts'
import {
  AFTER,
  AT_BITS,
  AT_COUNT,
  AT_FIRES,
  BEFORE,
  blockAt,
  COUNT,
  FIRED,
  FIRED_BY,
  FIRES,
  HEAD,
  layoutOf,
  objectsAt,
  HANDLE,
  TIME,
  WAITS,
  type Layout,
} from './row-layout.ts'
import type { BatchShape } from './batch-shape.ts'

/** One thing that follows from states: a trigger of the graph, and the actuator that it would fire. */
export interface Following {
  readonly trigger: number
  readonly actuator: number
  readonly policyMs: number
  /** which part of the trigger holds, and what its source showed before and shows now, when that is a gate */
  readonly matched: Match
  readonly from: number
  readonly to: number
}

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
  /** properties of which some move, to be filled for each call */
  toFill: Readonly<Record<string, unknown>>
}
/** What is asked of a handle here. */
interface Attached {
  readonly task: { readonly model: TaskModel }
}

/** A message that a row has begun and not ended: a call for it is open, or its answer is being taken. */
export interface OpenMessage {
  readonly row: number
  readonly message: Message | undefined
  /** the message before, when the full state has not seen it */
  readonly before: Message | undefined
}

export type RawData = Readonly<Record<string, unknown>> | undefined

/** of rows without called sensors */
const NO_RAW_DATA: RawData[] = []
const FIRST_ROWS = 16

export class RowStore {
  readonly shape: BatchShape
  readonly layout: Layout
  ints = new Int32Array(0)
  nums = new Float64Array(0)
  /** what is kept of firings */
  pastInts = new Int32Array(0)
  past = new Float64Array(0)
  /** what follows, by key bits before and now: a place in a list of lists; 1: nothing */
  readonly table: Int32Array
  /** gate states as bits, by key bits */
  readonly gateBits: Int32Array
  readonly followings: (readonly Following[])[] = [[], []]
  /** by row, as the layout says: a fleet's own objects are scattered in memory */
  readonly objects: (object | number | undefined)[] = []
  /** by row, then by position: what called sensors gave last */
  readonly rawData: RawData[][] = []
  /** by row and actuator: what it gave when it fired last; beside `objects`, since most give nothing */
  readonly answers: KeptAnswer[] = []
  /** whether any was ever kept */
  hasAnswers = false
  /** by row and position, of called sensors */
  readonly sensorCalls: SensorCall[] = []
  /** by row: its call that has not answered yet */
  readonly waiting: (OpenMessage | undefined)[] = []
  /** the call whose answer is being taken: its message began earlier */
  goingOn: OpenMessage | undefined
  /** rows that there is memory for; it grows between messages, never within one */
  room = 0
  /** how often a row was given away */
  freed = 0
  /** the bits on which gates and triggers depend */
  readonly keyMask: number
  readonly #free: number[] = []
  #used = 0

  /** epoch ms of the message at hand, and of the clock when a late answer was taken last; cells cost no box */
  readonly clock: Float64Array

  constructor(shape: BatchShape, model: TaskModel, clock: Float64Array) {
    this.clock = clock
    this.shape = shape
    this.layout = layoutOf(shape)
    this.keyMask = 2 ** shape.keyBits - 1
    this.table = new Int32Array(2 ** (2 * shape.keyBits))
    this.gateBits = gateBitsOf(shape, model)
  }

  add(): number {
    const row = this.#free.pop() ?? this.#used++
    if (this.#used > this.room) {
      this.room = Math.max(FIRST_ROWS, 2 * this.room)
      this.nums = grown(this.nums, this.room * this.layout.size)
      this.ints = new Int32Array(this.nums.buffer)
      this.past = grown(this.past, this.room * this.layout.pastSize)
      this.pastInts = new Int32Array(this.past.buffer)
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
    // Who looks may have it given away in the middle of a message: then that takes the full way.
    if (this.layout.isCalled) this.setWaiting(row, undefined, true)
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
      bits |= (state.sensors[slot]?.state ?? 0) << shift
    }
    ints[2 * d + BEFORE] = bits
    ints[2 * d + AFTER] = bits
    nums[d + COUNT] = count
    nums[d + TIME] = now
    for (const [i, constant] of constants.entries()) nums[d + layout.constants + i] = constant
    for (let n = 0; n < layout.nodes; n++) nums[d + layout.since + n] = state.observed[n]?.since ?? -1
    const p = this.pastAt(row)
    for (const [a, { firedAt }] of state.actuators.entries()) this.past[p + blockAt(layout, a) + FIRED] = firedAt
    this.forgetFirings(row)
  }

  /** What was kept for a synchronize is in the full state now. */
  forgetFirings(row: number): void {
    const { past, pastInts, layout } = this
    const p = this.pastAt(row)
    const own = row * layout.objects
    this.objects[own + FIRES] = 0
    for (let a = 0; a < layout.actuators; a++) {
      const block = p + blockAt(layout, a)
      past[block + AT_COUNT] = -1
      pastInts[2 * (block + AT_BITS) + 1] = 0
      this.objects[own + objectsAt(a) + FIRED_BY] = undefined
    }
  }

  /** The handle of the task that has a row; undefined when nobody has it. */
  handle(row: number): object | undefined {
    return this.objects[row * this.layout.objects + HANDLE] as object | undefined
  }

  /** Firings since the last synchronize. */
  fires(row: number): number {
    return this.objects[row * this.layout.objects + FIRES] as number
  }

  /** The same before the message `count`, the row's last. */
  firesBefore(row: number, count: number): number {
    const { past, layout } = this
    for (let a = 0; a < layout.actuators; a++) {
      const block = this.pastAt(row) + blockAt(layout, a)
      if (past[block + AT_COUNT] === count) return past[block + AT_FIRES] ?? 0
    }
    return this.fires(row)
  }

  count(row: number): number {
    return this.nums[this.at(row) + COUNT] ?? 0
  }

  time(row: number): number {
    return this.nums[this.at(row) + TIME] ?? 0
  }

  before(row: number): number {
    return this.ints[2 * this.at(row) + BEFORE] ?? 0
  }

  after(row: number): number {
    return (this.ints[2 * this.at(row) + AFTER] ?? 0) & ~WAITS
  }

  /** Whether a row takes no message: its call is open, or it was given away. */
  isWaiting(row: number): boolean {
    return (this.ints[2 * this.at(row) + AFTER] ?? 0) < 0
  }

  /** Sets the call of a row that is open, or takes it back; `isClosed`: the row takes no message all the same. */
  setWaiting(row: number, call: OpenMessage | undefined, isClosed = call !== undefined): void {
    const place = 2 * this.at(row) + AFTER
    this.waiting[row] = call
    const bits = this.ints[place] as number
    this.ints[place] = isClosed ? bits | WAITS : bits & ~WAITS
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
    return this.#lookUp(task.model, before, now)
  }

  /** What follows from state bits before and now, as the table has it. */
  entry(before: number, now: number): number {
    const keyMask = this.keyMask
    return this.table[((before & keyMask) << this.shape.keyBits) | (now & keyMask)] ?? 0
  }

  /** Fills a table entry with the help of a task of the shape; gives its place in `followings`. */
  #lookUp({ graph, settings }: TaskModel, before: number, now: number): number {
    const order = this.shape.sensors.map(({ slot }) => graph.sensors[slot] as SensorNode)
    const needsAll = settings.gatesNeedFullObservation
    const list = firingsOf(graph, order, this.states(before), this.states(now), needsAll).map((one): Following => {
      const { trigger, matched, from, to } = one
      const { policyMs, destination } = trigger
      return { trigger: graph.triggers.indexOf(trigger), actuator: destination.slot, policyMs, matched, from, to }
    })
    const keyMask = this.keyMask
    const what = list.length === 0 ? NOTHING : this.followings.push(list) - 1
    this.table[((before & keyMask) << this.shape.keyBits) | (now & keyMask)] = what
    return what
  }
}

/** A copy with more room. */
function grown(old: Float64Array, rows: number): Float64Array<ArrayBuffer> {
  const nums = new Float64Array(HEAD + rows)
  nums.set(old)
  return nums
}

function gateBitsOf(shape: BatchShape, { graph, settings }: TaskModel): Int32Array {
  const bits = new Int32Array(2 ** shape.keyBits)
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
