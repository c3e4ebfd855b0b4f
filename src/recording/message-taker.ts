/** What readers of recordings hand over: messages, and what is wrong in which line. */
import type { TakenLines } from './lines.ts'
import type { ClockZone } from './read-time.ts'

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
  /** each line that cannot be read is told, also where they are alike */
  everyProblem?: boolean
}

/** A format of recordings, fed line by line. */
export interface MessageFormat {
  line(text: string, number: number): void
  /** as of a LineTaker */
  lines?(chunk: Uint8Array, start: number, number: number): TakenLines
  end(): void
}
