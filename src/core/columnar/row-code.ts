/**
 * Messages into rows: functions per shape that read the message once and go through the rows that it concerns. Made as
 * source (generated-rows.ts): where code may not be generated, tasks do without rows.
 */
import type { Message } from '../task/origin.ts'
import type { FiringContext, FiringOwner } from './firing-loop.ts'
import type { FieldSetHistory } from './field-set-history.ts'
import type { Fields } from './message-fields.ts'
import type { Part } from './message-parts.ts'
import type { KeptAnswer } from './ordinary-answers.ts'
import type { Following } from './followings.ts'
import type { RawData, SensorCall } from './row-store.ts'

/** Calls of the actuators of rows. */
export interface RowActuators extends FiringOwner {
  /**
   * Fires an actuator, whose objects stand at `place`. False when the message went on in the state machine, and with it what
   * follows.
   */
  fire(row: number, place: number, actuator: number, trigger: number): boolean
}

/** Where a row's message leads: the batch. */
export interface RowEvents {
  readonly actuators: RowActuators
  /** messages that rows took, each on its own */
  taken: number
  /** the message at hand, once something follows from it */
  current: Message | undefined
  /** the row that is taking it, when it does so by itself */
  currentRow: number
  /** Rows of a vectorized batch fire their only actuators, one after the other. Returns the context of their calls. */
  beginFirings(trigger: number): FiringContext
  /** They are done, so many of them by themselves. */
  endFirings(firings: number): void
  /** Takes the next message of an indexed row when no code for its part does; false when the full state has to. */
  takeAlone(row: number, message: Message, fields: Fields, part: Part): boolean
  /** So many firings and holds are done with. */
  followed(firings: number, held: number): void
  /** Plugs of sensors are about to be called. Returns the row's raw data by position, null when the row has left. */
  beginCalls(row: number, message: Values): RawData[] | null
  /** Calls the plug of a sensor. Returns its state index; -1 when the row has gone another way. */
  call(sensor: SensorCall, position: number, bits: number, rawData: RawData[]): number
  /** All sensors of a row have answered; their states, as bits. */
  endCalls(row: number, bits: number): void
  /** undefined: without a subscriber to all events of messages */
  readonly records: MessageRecords | undefined
  /** undefined: nothing is kept of what rows took */
  readonly history: MessageHistory | undefined
  /** undefined: without a subscriber to what fires */
  readonly firings: FiringRecords | undefined
}

/** Records of what fires in rows, or is held back. */
export interface FiringRecords extends EpochRecords {
  /** An actuator of a row fires; or it is held back, when `until` is not over, epoch ms. */
  firing(row: number, message: Values, list: readonly Following[], one: Following, until: number): void
  /** The sensors of a row that others fire; all have answered. */
  allInner(row: number, message: Values, bits: number): void
}

export interface EpochRecords {
  /** Records of what the rows of a vectorized batch take together, from where they are up to date. */
  beginEpoch(from: EpochSource): RecordEpoch
}

/** Records of the messages of rows. */
export interface MessageRecords extends EpochRecords {
  /**
   * A row's sensors have answered a message: its number and time, state bits before and after it. `earlier`: as for
   * `follows`, when sensors fire others.
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
  /** What follows from it, before it does. `earlier`: since when each node had its state, then when each actuator had fired. */
  follows(row: number, list: readonly Following[], earlier: readonly number[]): void
}

/** The last messages of each row. */
export interface MessageHistory {
  /** of a row */
  readonly kept: number
  /** where it keeps since when nodes had their states */
  readonly nums: Float64Array
  /**
   * A row's sensors have answered a message: its number and time, state bits before and after it. `arrived`: epoch ms of the
   * clock when it came; default: now.
   */
  add(row: number, message: Values, number: number, time: number, before: number, after: number, arrived?: number): void
  /** Called sensors gave what they did with it. */
  sensorsAnswered(row: number, number: number): void
  /** Something follows from the last message of a row, or sensors fire others, whose own numbers tell what was before. */
  follows(row: number): void
  /** The same of an earlier one. Returns the place in `nums` of the times since when nodes had their states before it. */
  followsAt(row: number, number: number): number
  /** What the next actuator that fires with a message of a row has answered. */
  answered(row: number, number: number, answer: KeptAnswer): void
}

/** What records of many rows go by. */
export interface EpochSource extends Pick<VectorCode, 'statesAt' | 'statesOfAll' | 'lastChange'> {
  readonly rows: readonly number[]
  readonly limits: Limits
  /** what messages show, by message and parameter, and when each was taken: both are filled, and never changed else */
  readonly values: Float64Array
  readonly times: Float64Array
  readonly parameters: number
  /** the nodes that change, as bits by index, by state bits before (above) and now */
  readonly changes: Int32Array
}

export interface RecordEpoch {
  /** The rows are about to take a message, which stands at a place. */
  begin(place: number, message: Message): void
  /**
   * Those before a place have got it. `firing`: which of them fire, a copy; `answers`: what
   * actuators gave last, by place.
   */
  end(reached: number, firing: Int32Array | undefined, answers: readonly KeptAnswer[] | undefined): void
}

export type Values = Readonly<Record<string, unknown>>

/** Takes a message into one row, unless it has fields that no row takes, or no number where the row compares one. */
export type TakeOne = (row: number, message: Values) => boolean

/** The same of a message whose fields are known, and with them which part of the sensors it runs. */
export type TakePart = (row: number, message: Values, fields: Fields, part: Part) => boolean

/**
 * The same for a list of rows from a place on. `isFirst`: the message before ran all sensors. Returns the first place that
 * is not done, else its length.
 */
export type TakeAll = (list: readonly number[], from: number, message: Values, part: Part, isFirst: boolean) => number

/** Limits of a vectorized batch's rows: by constant, then by row. */
export type Limits = readonly (readonly number[])[]

/** How a vectorized batch takes messages. `values`: what messages showed, by message and parameter. */
export interface VectorCode {
  /** Keeps what the message shows, from `at` on. False when it has no number where rows compare one. */
  read(message: Values, values: Float64Array, at: number): boolean
  /** Which rows fire by what stands at `at`, as bits in `firing` from `first` on; 0 when none does. */
  sweep(limits: Limits, firing: Int32Array, first: number, values: Float64Array, at: number): number
  /** State bits of a row by what stands at `at`. */
  statesAt(limits: Limits, row: number, values: Float64Array, at: number): number
  /**
   * Of the first `rows` that are in a set: state bits by what stands at `before`, above those by what stands
   * at `at`, by row.
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
   * The last message, from the one at `place` back to the one at `first`, at which one of the nodes changes, by a table of
   * which nodes change by state bits before and now. Below `first` when none does.
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

/** Which rows of a vectorized batch fire: those whose sensors are all in allowed ranges, or all others. */
export interface VectorCondition {
  /** allowed ranges of each sensor, as bits in the order of `SensorSteps.states` */
  readonly allowed: readonly number[]
  readonly isNegated: boolean
}

export interface RowCode {
  /** For rows whose messages mostly have the fields of a field-set history that has no past; others go elsewhere. */
  takeOne(usual: FieldSetHistory, others: TakeOne): TakeOne
  takePart(part: Part): TakePart
  takeAll(part: Part): TakeAll
  /** Fires what follows from a row's states, by the entry of the table, when its cool-down lets it fire. */
  follow(row: number, what: number, message: Values): void
}
