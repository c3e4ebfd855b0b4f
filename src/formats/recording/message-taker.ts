/** Output of recording readers: messages, and problems by line. */
import type { TakenLines } from './lines.ts'
import type { EpochUnit } from '#kernel'
import type { ClockZone } from './read-time.ts'
import type { EpochSpan } from './times.ts'
import type { Encoding } from './utf8.ts'
import type { ValueTypes } from './value-types.ts'

/** Message of a recording: broker fields with the time as epoch ms. */
export interface RecordedMessage {
  resource: string
  timestamp: number
  [key: string]: unknown
}

export interface LineProblem {
  line: number
  message: string
  suggestion?: string
}

/** Message as names and values, valid until the next one: the first `count` of each, all values defined. */
export interface RecordedRow {
  readonly resource: string
  readonly timestamp: number
  readonly count: number
  readonly metrics: readonly string[]
  readonly values: readonly unknown[]
}

export interface MessageTaker {
  message(message: RecordedMessage, line: number): void
  problem(problem: LineProblem): void
  /**
   * For takers that need no object per message: most messages arrive here instead, in line order among the others.
   * Return false, without side effects, to get the line as a message or problem.
   */
  row?(row: RecordedRow, line: number): boolean
}

export interface ReadingOptions {
  zone: ClockZone
  resource: string | undefined
  unit?: EpochUnit
  encoding?: Encoding
  /** by metric; an unlisted CSV column is text, unless its header has a type */
  types?: ValueTypes
  /** reports every unreadable line, even repeats */
  everyProblem?: boolean
}

/** Recording format, fed line by line. */
export interface MessageFormat {
  readonly epochs: EpochSpan | undefined
  readonly fileProblems?: readonly LineProblem[]
  readonly ownTypes?: ValueTypes
  line(text: string, number: number): void
  lines?(chunk: Uint8Array, start: number, number: number): TakenLines
  end(): void
}
