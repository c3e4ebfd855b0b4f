/** Defines what recording readers output: messages, and problems by line. */
import type { TakenLines } from './lines.ts'
import type { EpochUnit } from '#kernel'
import type { ClockZone, EpochSpan } from './times.ts'
import type { Encoding } from './utf8.ts'
import type { ValueTypes } from './value-types.ts'

/** A message of a recording. Its timestamp is epoch ms. */
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

/** A message as names and values: the first `count` of each list. Valid until the next row; all values are defined. */
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
  /** For takers that need no objects. Returns false, without side effects, to receive the line otherwise. */
  row?(row: RecordedRow, line: number): boolean
}

export interface ReadingOptions {
  zone: ClockZone
  resource: string | undefined
  unit?: EpochUnit
  encoding?: Encoding
  /** by metric; a CSV column without a type, here or in its header, is text */
  types?: ValueTypes
  /** of a CSV; default: a comma */
  delimiter?: string
  /** of a CSV; default: a point */
  decimal?: '.' | ','
  /** of a CSV: names of metrics by the names of their columns */
  map?: ReadonlyMap<string, string>
  everyProblem?: boolean
}

export interface MessageFormat {
  readonly epochs: EpochSpan | undefined
  readonly fileProblems?: readonly LineProblem[]
  readonly headerTypes?: ValueTypes
  line(text: string, number: number): void
  lines?(chunk: Uint8Array, start: number, number: number): TakenLines
  end(): void
}
