/** What readers of recordings hand over: messages, and what is wrong in which line. */
import type { TakenLines } from './lines.ts'
import type { EpochUnit } from '#kernel'
import type { ClockZone } from './read-time.ts'
import type { EpochSpan } from './times.ts'
import type { Encoding } from './utf8.ts'
import type { ValueTypes } from './value-types.ts'

/** A message of a recording: broker fields with the time as epoch ms. */
export interface RecordedMessage {
  resource: string
  timestamp: number
  [key: string]: unknown
}

/** One thing wrong in one line of a recording. */
export interface LineProblem {
  line: number
  message: string
  suggestion?: string
}

/** A message as names and values, which are good until the next one: `count` of each, of which no value is undefined. */
export interface RecordedRow {
  readonly resource: string
  readonly timestamp: number
  readonly count: number
  readonly metrics: readonly string[]
  readonly values: readonly unknown[]
}

/** Where readers of a format hand over what they find. */
export interface MessageTaker {
  message(message: RecordedMessage, line: number): void
  problem(problem: LineProblem): void
  /**
   * For takers that need no object for each message: many come so instead, in the order of their lines among the others.
   * False: the taker kept nothing of it, and hears the line as a message or problem.
   */
  row?(row: RecordedRow, line: number): boolean
}

export interface ReadingOptions {
  /** for times without an offset */
  zone: ClockZone
  /** for messages that name none */
  resource: string | undefined
  /** of epoch numbers; default ms */
  unit?: EpochUnit
  /** default utf-8 */
  encoding?: Encoding
  /** what metrics are; a column of a CSV that is not named is text, unless its header says otherwise */
  types?: ValueTypes
  /** each line that cannot be read is told, also where they are alike */
  everyProblem?: boolean
}

/** A format of recordings, fed line by line. */
export interface MessageFormat {
  /** of what was read so far */
  readonly epochs: EpochSpan | undefined
  /** what was told of the whole file: none of its lines can be used */
  readonly fileProblems?: readonly LineProblem[]
  /** types that the file itself names */
  readonly ownTypes?: ValueTypes
  line(text: string, number: number): void
  /** as of a LineTaker */
  lines?(chunk: Uint8Array, start: number, number: number): TakenLines
  end(): void
}
