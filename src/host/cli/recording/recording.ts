/** A recording: checked as a whole first, then read as a stream. */
import { AppError } from '../../../kernel/errors.ts'
import { formatSpan, formatTime } from '../time-text.ts'
import { visible } from '../visible.ts'
import type { Zone } from '../zone.ts'
import type { LineProblem, MessageTaker, ReadingOptions, RecordedMessage } from '../../../recording/message-taker.ts'
import { mixedText, type MixedColumn } from '../../../recording/column-types.ts'
import { readMessages, type RecordingFormat } from '../../../recording/read-messages.ts'
import { surveyRecording, type Survey } from '../../../recording/survey.ts'
import type { Source } from './source.ts'

const MAX_SHOWN = 20
const MAX_RESOURCES = 1000

/** What a look through a whole recording found. */
export interface Recording {
  name: string
  /** how it is read again: with what its columns are */
  reading: RecordingOptions
  format: RecordingFormat | undefined
  /** columns of texts in which somebody may have meant numbers */
  mixed: readonly MixedColumn[]
  messages: number
  /** epoch ms, of the messages */
  first: number
  last: number
  /** the resources, in order of appearance, cut at 1,000 */
  resources: ReadonlySet<string>
  /** the first 20 */
  problems: readonly LineProblem[]
  /** how many more there are */
  moreProblems: number
  /** lines that repeat times that were recorded before, as loggers do when their clock is set back */
  repeats: Repeats | undefined
  /** the messages in order of time, when they were asked to be sorted */
  sorted: readonly RecordedMessage[] | undefined
}

export interface Repeats {
  /** the first line that goes back */
  line: number
  /** epoch ms: its time, and that of the line above */
  time: number
  previous: number
  /** whether its time was recorded before */
  known: boolean
  /** how many lines lie before what the recording had reached */
  count: number
}

/** How a recording is read, and in which zone its times are told. */
export type RecordingOptions = ReadingOptions & { readonly zone: Zone }

export interface OrderOptions {
  /** bring the messages into order, which keeps them in memory */
  sort?: boolean
  /** take any line that goes back in time as late, also one whose time was never recorded */
  late?: boolean
}

/**
 * Reads a recording from end to end and tells what is wrong with it: first with all of it, such as the unit of its times,
 * else line by line. With `sort` it keeps the messages and sorts them.
 * A line may go back only to a time that was recorded before: such a stretch is a repeat, whose messages come late.
 */
export async function checkRecording(
  source: Source,
  options: RecordingOptions,
  { sort = false, late = false }: OrderOptions = {},
): Promise<Recording> {
  const survey = await surveyOf(source, options)
  const reading = { ...options, types: survey.types }
  const problems: LineProblem[] = [...survey.problems]
  const resources = new Set<string>()
  const kept: RecordedMessage[] = []
  let moreProblems = 0
  let messages = 0
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  let previous = Number.NEGATIVE_INFINITY
  let repeats: Repeats | undefined
  const seen = new RecentTimes()
  const taker: MessageTaker = {
    message(message, line) {
      const { timestamp } = message
      if (sort) kept.push(message)
      else if (timestamp < previous) {
        if (late || seen.has(timestamp))
          repeats ??= { line, time: timestamp, previous, known: seen.has(timestamp), count: 0 }
        else taker.problem(outOfOrder(line, timestamp, previous, options))
      }
      if (timestamp < last && repeats) repeats.count++
      if (!sort) seen.add(timestamp)
      previous = timestamp
      messages++
      if (timestamp < first) first = timestamp
      if (timestamp > last) last = timestamp
      if (resources.size < MAX_RESOURCES) resources.add(message.resource)
    },
    problem(problem) {
      if (problems.length < MAX_SHOWN) problems.push(problem)
      else moreProblems++
    },
  }
  const format = problems.length > 0 ? survey.format : await readAll(source, reading, taker)
  if (messages === 0 && problems.length === 0) taker.problem(nothing(format))
  // The sort is stable, so messages of one time stay in the order of their lines.
  const sorted = sort ? kept.sort((a, b) => a.timestamp - b.timestamp) : undefined
  return {
    name: source.name,
    reading,
    format,
    mixed: survey.mixed,
    messages,
    first,
    last,
    resources,
    problems,
    moreProblems,
    repeats,
    sorted,
  }
}

async function surveyOf(source: Source, options: RecordingOptions): Promise<Survey> {
  const survey = surveyRecording(source.open(), options)
  let step = await survey.next()
  while (step.done !== true) step = await survey.next()
  return step.value
}

async function readAll(
  source: Source,
  reading: ReadingOptions,
  taker: MessageTaker,
): Promise<RecordingFormat | undefined> {
  const lines = readMessages(source.open(), reading, taker)
  let step = await lines.next()
  while (step.done !== true) step = await lines.next()
  return step.value
}

/**
 * The messages of a recording that was checked, read anew as a stream. Throws `BAD_RECORDING` when the file has changed
 * in the meantime.
 */
export async function* messagesOf(source: Source, reading: ReadingOptions): AsyncGenerator<RecordedMessage> {
  let batch: RecordedMessage[] = []
  const taker: MessageTaker = {
    message: (message) => void batch.push(message),
    problem({ line, message }) {
      throw new AppError('BAD_RECORDING', `${source.name}:${line}: ${message}; the file changed while it was read`)
    },
  }
  for await (const _ of readMessages(source.open(), reading, taker)) {
    yield* batch
    batch = []
  }
}

/** One line per problem: `boiler.csv:17: what is wrong; what would be right`. */
export function describeProblems(recording: Recording): string[] {
  const lines = recording.problems.map(({ line, message, suggestion }) => {
    return visible(`${recording.name}:${line}: ${message}${suggestion === undefined ? '' : `; ${suggestion}`}`)
  })
  if (recording.moreProblems > 0) lines.push(`${recording.name}: and ${recording.moreProblems} more problems`)
  return lines
}

/** For people: which columns are texts though some of their cells are numbers. */
export function describeMixed({ name, mixed }: Recording): string[] {
  return mixed.slice(0, MAX_SHOWN).map((column) => visible(`NOTE ${name}:${column.line}: ${mixedText(column)}`))
}

/** For people: the repeated stretch, and what is done about it. */
export function describeRepeats({ name, repeats }: Recording, { zone }: RecordingOptions): string | undefined {
  if (repeats === undefined) return undefined
  const before = repeats.known ? ', which was recorded before' : ''
  const back = `goes back ${formatSpan(repeats.previous - repeats.time)} to ${formatTime(repeats.time, zone)}${before}`
  const lines = repeats.count === 1 ? '1 line is' : `${repeats.count} lines are`
  return visible(
    `WARNING ${name}:${repeats.line}: ${back}; ${lines} taken late, in the order of the file; --sort sorts them`,
  )
}

/** The last 10,000 to 20,000 times, so that memory does not grow with the recording. */
class RecentTimes {
  #recent = new Set<number>()
  #older = new Set<number>()

  has(time: number): boolean {
    return this.#recent.has(time) || this.#older.has(time)
  }

  add(time: number): void {
    this.#recent.add(time)
    if (this.#recent.size < 10_000) return
    this.#older = this.#recent
    this.#recent = new Set()
  }
}

function outOfOrder(line: number, time: number, previous: number, { zone }: RecordingOptions): LineProblem {
  const back = formatSpan(previous - time)
  const message = `${formatTime(time, zone)} is ${back} before the line above (${formatTime(previous, zone)})`
  return { line, message, suggestion: 'lines go forward in time; --sort sorts them, --late takes them as they come' }
}

function nothing(format: RecordingFormat | undefined): LineProblem {
  return format === undefined
    ? {
        line: 1,
        message: 'the file is empty',
        suggestion: 'write CSV with a timestamp column, or one JSON message a line',
      }
    : { line: 1, message: 'there is no message in it', suggestion: 'write at least one line below the header' }
}
