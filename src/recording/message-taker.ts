/** What readers of recordings hand over: messages, and what is wrong in which line. */
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

/** Where readers of a format hand over what they find. */
export interface MessageTaker {
  message(message: RecordedMessage, line: number): void
  problem(problem: LineProblem): void
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
  end(): void
}
