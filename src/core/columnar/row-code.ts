/**
 * Describes the generated code of rows: functions per shape that read a message once and apply it to the affected rows.
 * Where code generation is not allowed (see generated-rows.ts), tasks do not use rows.
 */
import type { Message } from '../task/origin.ts'
import type { FiringContext, FiringOwner } from './firing-loop.ts'
import type { FieldSetHistory } from './field-set-history.ts'
import type { Fields } from './message-fields.ts'
import type { Part } from './message-parts.ts'
import type { KeptAnswer } from './ordinary-answers.ts'
import type { Following } from './followings.ts'
import type { RawData, SensorCall } from './row-store.ts'

export interface RowActuators extends FiringOwner {
  /**
   * Fires an actuator whose objects are at `place`. Returns false when the message and its further consequences
   * continued in the state machine.
   */
  fire(row: number, place: number, actuator: number, trigger: number): boolean
}

/** The batch, as seen by the code of its rows. */
export interface RowEvents {
  readonly actuators: RowActuators
  /** number of messages that rows took individually */
  taken: number
  /** the current message, once it has consequences */
  current: Message | undefined
  /** the row that is taking the current message individually */
  currentRow: number
  /**
   * Begins firing the only actuators of a vectorized batch's rows, one after the other. Returns the context of their
   * calls.
   */
  beginFirings(trigger: number): FiringContext
  /** Ends these firings. `firings`: how many ended within their rows. */
  endFirings(firings: number): void
  /**
   * Takes the next message of an indexed row when its part has no code. Returns false when the full state must take it.
   */
  takeAlone(row: number, message: Message, fields: Fields, part: Part): boolean
  /** Counts finished firings and holds. */
  followed(firings: number, held: number): void
  /** Called before sensor plugs are called. Returns the row's raw data by position, or null when the row has left. */
  beginCalls(row: number, message: Values): RawData[] | null
  /** Calls the plug of a sensor. Returns its state index, or -1 when the row moved elsewhere. */
  call(sensor: SensorCall, position: number, bits: number, rawData: RawData[]): number
  /** Called when all sensors of a row have finished. `bits`: their states. */
  endCalls(row: number, bits: number): void
  /** undefined unless all events of messages have a subscriber */
  readonly records: MessageRecords | undefined
  /** undefined when no history of rows is kept */
  readonly history: MessageHistory | undefined
  /** undefined unless firings have a subscriber */
  readonly firings: FiringRecords | undefined
}

/** Records firings and holds of rows. */
export interface FiringRecords extends EpochRecords {
  /** Records that an actuator fires, or is held back if `until` (epoch ms) is in the future. */
  firing(row: number, message: Values, list: readonly Following[], one: Following, until: number): void
  /** Records that all sensors fired by other sensors of the row have finished. */
  allInner(row: number, message: Values, bits: number): void
}

export interface EpochRecords {
  /**
   * Starts recording what a vectorized batch's rows take together. `from`: the state since the rows were last up to
   * date.
   */
  beginEpoch(from: EpochSource): RecordEpoch
}

export interface MessageRecords extends EpochRecords {
  /**
   * Adds a message when the row's sensors have finished: its number, its time, and state bits before and after it.
   * `earlier`: as for `follows`, when sensors fire others.
   */
  add(
    row: number,
    message: Values,
    number: number,
    time: number,
    before: number,
    after: number,
    earlier: readonly number[] | undefined,
  ): void
  /**
   * Records consequences before they happen. `earlier`: when each node had entered its earlier state, then when each
   * actuator had last fired.
   */
  follows(row: number, list: readonly Following[], earlier: readonly number[]): void
}

/** Keeps the last messages of each row. */
export interface MessageHistory {
  /** number of messages kept per row */
  readonly kept: number
  /** contains when nodes entered their states */
  readonly nums: Float64Array
  /**
   * Adds a message when the row's sensors have finished: its number, its time, and state bits before and after it.
   * `arrived`: the clock at its arrival in epoch ms; default: now.
   */
  add(row: number, message: Values, number: number, time: number, before: number, after: number, arrived?: number): void
  /** Keeps the results of called sensors for the message. */
  sensorsAnswered(row: number, number: number): void
  /**
   * Called when a row's last message has consequences or its sensors fire others; the row's numbers contain the earlier
   * state.
   */
  follows(row: number): void
  /** Same for an earlier message. Returns where `nums` stores when the nodes had entered their earlier states. */
  followsAt(row: number, number: number): number
  /** Keeps the result of the next actuator that the message fired. */
  answered(row: number, number: number, answer: KeptAnswer): void
}

/** Data that a record of many rows is computed from. */
export interface EpochSource {
  readonly parts: VectorCode & {
    readonly parameters: number
    /** nodes that change, as bits by index, for each pair of state bits (before in the high bits) */
    readonly changes: Int32Array
  }
  readonly rows: readonly number[]
  readonly limits: Limits
  /** values by message and parameter, and the time of each message; append-only */
  readonly values: Float64Array
  readonly times: Float64Array
}

export interface RecordEpoch {
  /** Called before the rows take the message at `place`. */
  begin(place: number, message: Message): void
  /**
   * Called when the first `reached` rows have taken the message. `firing`: a copy of the set that fires. `answers`:
   * last results of actuators, by place.
   */
  end(reached: number, firing: Int32Array | undefined, answers: readonly KeptAnswer[] | undefined): void
}

export type Values = Readonly<Record<string, unknown>>

/** Takes a message into one row, unless no row takes its fields or a compared value is not a number. */
export type TakeOne = (row: number, message: Values) => boolean

/** Takes a message whose fields, and so the part of the sensors that it runs, are known. */
export type TakePart = (row: number, message: Values, fields: Fields, part: Part) => boolean

/**
 * Takes a message into the rows of a list, starting at `from`. `isFirst`: the message before ran all sensors. Returns
 * the first place that was not processed, or the list's length.
 */
export type TakeAll = (list: readonly number[], from: number, message: Values, part: Part, isFirst: boolean) => number

/** Limits of a vectorized batch's rows, by constant, then by row. */
export type Limits = readonly (readonly number[])[]

/**
 * The code with which a vectorized batch takes messages. `values` contains compared values by message and parameter.
 */
export interface VectorCode {
  /** Stores the message's values from `at` on. Returns false when a compared value is not a number. */
  read(message: Values, values: Float64Array, at: number): boolean
  /** Writes the rows that fire for the values at `at` as bits, from `first` on. Returns 0 when none fires. */
  sweep(limits: Limits, firing: Int32Array, first: number, values: Float64Array, at: number): number
  /** Returns the state bits of a row for the values at `at`. */
  statesAt(limits: Limits, row: number, values: Float64Array, at: number): number
  /**
   * Writes state bits for the first `rows` rows, as far as they are in a set: for the values at `before` in the high
   * bits, for the values at `at` in the low bits.
   */
  statesOfAll(
    limits: Limits,
    set: Int32Array,
    rows: number,
    values: Float64Array,
    before: number,
    at: number,
    states: Int32Array,
  ): void
  /**
   * Searches back from the message at `place` to that at `first`, and returns the last one that changed one of the
   * nodes. Returns less than `first` if none did. The table lists changed nodes by state bits before and now.
   */
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

/** Decides which rows of a vectorized batch fire: rows with all sensors in allowed ranges, or all others. */
export interface VectorCondition {
  /** allowed ranges of each sensor, as bits in the order of `SensorSteps.states` */
  readonly allowed: readonly number[]
  readonly isNegated: boolean
}

export interface RowCode {
  /**
   * Creates code for rows whose messages usually have the fields of `usual`, a history without a past; passes other
   * messages to `others`.
   */
  takeOne(usual: FieldSetHistory, others: TakeOne): TakeOne
  takePart(part: Part): TakePart
  takeAll(part: Part): TakeAll
  /** Fires the consequences in a table entry, if the row's cool-downs allow it. */
  follow(row: number, what: number, message: Values): void
}
