/** What readers of recordings hand over: messages, and what is wrong in which line. */
import type { Zone } from '../zone.ts'

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

/** Where readers of a format hand over what they find. */
export interface MessageTaker {
  message(message: RecordedMessage, line: number): void
  problem(problem: LineProblem): void
}

export interface ReadingOptions {
  /** for times without an offset */
  zone: Zone
  /** for messages that name none */
  resource: string | undefined
}

/** A format of recordings, fed line by line. */
export interface MessageFormat {
  line(text: string, number: number): void
  end(): void
}
