/** Describes the generated code of rows; where code generation is not allowed, tasks do not use rows. */
import type { Message } from '../task/origin.ts'
import type { FiringContext, FiringOwner } from './firing-loop.ts'
import type { FieldSetHistory } from './field-set-history.ts'
import type { Fields } from './message-fields.ts'
import type { Part } from './message-parts.ts'
import type { KeptAnswer } from './ordinary-answers.ts'
import type { Following } from './followings.ts'
import type { RawData, SensorCall } from './row-store.ts'

export interface RowActuators extends FiringOwner {
  /** Returns false when the message and its further consequences continued in the state machine. */
  fire(row: number, place: number, actuator: number, trigger: number): boolean
}

export interface RowEvents {
  readonly actuators: RowActuators
  taken: number
  /** the current message, once it has consequences */
  current: Message | undefined
  currentRow: number
  beginFirings(trigger: number): FiringContext
  endFirings(firings: number): void
  /** Returns false when the full state must take the message. */
  takeAlone(row: number, message: Message, fields: Fields, part: Part): boolean
  followed(firings: number, held: number): void
  /** Called before sensor plugs are called. Returns the row's raw data by position, or null when the row has left. */
  beginCalls(row: number, message: Values): RawData[] | null
  /** Calls the plug of a sensor. Returns its state index, or -1 when the row moved elsewhere. */
  call(sensor: SensorCall, position: number, bits: number, rawData: RawData[]): number
  endCalls(row: number, bits: number): void
  /** undefined unless all events of messages have a subscriber */
  readonly records: MessageRecords | undefined
  /** undefined when no history of rows is kept */
  readonly history: MessageHistory | undefined
  /** undefined unless firings have a subscriber */
  readonly firings: FiringRecords | undefined
}

export interface FiringRecords extends EpochRecords {
  /** Records that an actuator fires, or is held back if `until` (epoch ms) is in the future. */
  firing(row: number, message: Values, list: readonly Following[], one: Following, until: number): void
  allInner(row: number, message: Values, bits: number): void
}

export interface EpochRecords {
  /** `from`: the state since the rows were last up to date */
  beginEpoch(from: EpochSource): RecordEpoch
}

export interface MessageRecords extends EpochRecords {
  /** Called when the row's sensors have finished. `earlier`: as for `follows`, when sensors fire others. */
  add(
    row: number,
    message: Values,
    number: number,
    time: number,
    before: number,
    after: number,
    earlier: readonly number[] | undefined,
  ): void
  /** Called before they happen. `earlier`: when nodes had entered their states, then when actuators had fired. */
  follows(row: number, list: readonly Following[], earlier: readonly number[]): void
}

export interface MessageHistory {
  readonly kept: number
  readonly nums: Float64Array
  /** `arrived`: the clock at its arrival in epoch ms; default: now */
  add(row: number, message: Values, number: number, time: number, before: number, after: number, arrived?: number): void
  sensorsAnswered(row: number, number: number): void
  /** Called when a row's last message has consequences or its sensors fire others. */
  follows(row: number): void
  /** Same for an earlier message. Returns where `nums` stores when the nodes had entered their earlier states. */
  followsAt(row: number, number: number): number
  answered(row: number, number: number, answer: KeptAnswer): void
}

export interface EpochSource extends Pick<VectorCode, 'statesAt' | 'statesOfAll' | 'lastChange'> {
  readonly rows: readonly number[]
  readonly limits: Limits
  /** values by message and parameter, and the time of each message; append-only */
  readonly values: Float64Array
  readonly times: Float64Array
  readonly parameters: number
  /** nodes that change, as bits by index, for each pair of state bits (before in the high bits) */
  readonly changes: Int32Array
}

export interface RecordEpoch {
  begin(place: number, message: Message): void
  /** `firing`: a copy of the set that fires. `answers`: last results of actuators, by place. */
  end(reached: number, firing: Int32Array | undefined, answers: readonly KeptAnswer[] | undefined): void
}

export type Values = Readonly<Record<string, unknown>>

/** Takes a message into one row, unless no row takes its fields or a compared value is not a number. */
export type TakeOne = (row: number, message: Values) => boolean

export type TakePart = (row: number, message: Values, fields: Fields, part: Part) => boolean

/** Returns the first place that was not processed. `isFirst`: the message before ran all sensors. */
export type TakeAll = (list: readonly number[], from: number, message: Values, part: Part, isFirst: boolean) => number

/** Limits of a vectorized batch's rows, by constant, then by row. */
export type Limits = readonly (readonly number[])[]

/** `values` contains compared values by message and parameter. */
export interface VectorCode {
  /** Stores the message's values from `at` on. Returns false when a compared value is not a number. */
  read(message: Values, values: Float64Array, at: number): boolean
  /** Writes the rows that fire for the values at `at` as bits, from `first` on. Returns 0 when none fires. */
  sweep(limits: Limits, firing: Int32Array, first: number, values: Float64Array, at: number): number
  statesAt(limits: Limits, row: number, values: Float64Array, at: number): number
  /** For the values at `before` in the high bits, for those at `at` in the low bits. */
  statesOfAll(
    limits: Limits,
    set: Int32Array,
    rows: number,
    values: Float64Array,
    before: number,
    at: number,
    states: Int32Array,
  ): void
  /** Searches backwards for the last message that changed one of the nodes; less than `first`: none did. */
  lastChange(
    limits: Limits,
    row: number,
    values: Float64Array,
    place: number,
    first: number,
    nodes: number,
    changes: Int32Array,
  ): number
}

/** Decides which rows of a vectorized batch fire: those with all sensors in allowed ranges, or all others. */
export interface VectorCondition {
  /** allowed ranges of each sensor, as bits in the order of `SensorSteps.states` */
  readonly allowed: readonly number[]
  readonly isNegated: boolean
}

export interface RowCode {
  /** `usual` is a history without a past; other messages go to `others`. */
  takeOne(usual: FieldSetHistory, others: TakeOne): TakeOne
  takePart(part: Part): TakePart
  takeAll(part: Part): TakeAll
  /** Fires the consequences in a table entry, if the row's cool-downs allow it. */
  follow(row: number, what: number, message: Values): void
}
