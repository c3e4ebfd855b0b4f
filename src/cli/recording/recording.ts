/** Checks a recording as a whole, then reads it as a stream. */
import { AppError } from '#kernel'
import { formatSpan, formatTime } from '../time-text.ts'
import { visible } from '../visible.ts'
import type { Zone } from '../zone.ts'
import {
  type LineProblem,
  type MessageTaker,
  type MixedColumn,
  mixedText,
  type ReadingOptions,
  readMessages,
  type RecordedMessage,
  type RecordingFormat,
  type Survey,
  surveyRecording,
} from '#formats/recording'
import { ARRIVAL_FIELD, playTime, type PlayOrder } from './play-order.ts'
import type { Source } from './source.ts'

const MAX_SHOWN = 20
const MAX_RESOURCES = 1000

export interface Recording {
  name: string
  /** Options for reading the recording again, including the types of its columns */
  reading: RecordingOptions
  format: RecordingFormat | undefined
  /** Text columns that also contain numbers */
  mixed: readonly MixedColumn[]
  messages: number
  /** Times of the first and the last message, epoch ms */
  first: number
  last: number
  /** Resources in order of appearance, at most 1,000 */
  resources: ReadonlySet<string>
  /** The first 20 problems */
  problems: readonly LineProblem[]
  moreProblems: number
  order: PlayOrder
  /** Lines that go back in time; undefined: the recording is in order */
  back: BackwardStep | undefined
}

export interface BackwardStep {
  line: number
  /** Times of this line and of the line above, epoch ms */
  time: number
  previous: number
  count: number
}

/** Options for reading a recording, including the zone for times in messages. */
export type RecordingOptions = ReadingOptions & { readonly zone: Zone }

/** First problems of the whole, such as the unit of its times, otherwise problems of each line. */
export async function checkRecording(
  source: Source,
  options: RecordingOptions,
  order: PlayOrder = 'time',
): Promise<Recording> {
  const survey = await surveyOf(source, options)
  const reading = { ...options, types: survey.types }
  const problems: LineProblem[] = [...survey.problems]
  const resources = new Set<string>()
  let moreProblems = 0
  let messages = 0
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  let previous = Number.NEGATIVE_INFINITY
  let back: BackwardStep | undefined
  const taker: MessageTaker = {
    message(message, line) {
      const time = playTime(message, order)
      if (time === undefined) return taker.problem(withoutArrival(line, message[ARRIVAL_FIELD]))
      if (time < previous) back ??= { line, time, previous, count: 0 }
      if (time < last && back) back.count++
      previous = time
      messages++
      if (time < first) first = time
      if (time > last) last = time
      if (resources.size < MAX_RESOURCES) resources.add(message.resource)
    },
    problem(problem) {
      if (problems.length < MAX_SHOWN) problems.push(problem)
      else moreProblems++
    },
  }
  const format = problems.length > 0 ? survey.format : await readAll(source, reading, taker)
  if (messages === 0 && problems.length === 0) taker.problem(nothing(format))
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
    order,
    back,
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

/** A recording that is out of order is held in memory and sorted. */
export async function* messagesOf(
  source: Source,
  { reading, order, back }: Recording,
): AsyncGenerator<RecordedMessage> {
  const lines = linesOf(source, reading)
  if (order === 'file' || back === undefined) {
    yield* lines
    return
  }
  const kept: RecordedMessage[] = []
  for await (const message of lines) kept.push(message)
  // The sort is stable, so messages with equal times keep the order of their lines.
  yield* kept.sort((a, b) => (playTime(a, order) ?? 0) - (playTime(b, order) ?? 0))
}

/** Throws `BAD_RECORDING` if the file has changed in the meantime. */
async function* linesOf(source: Source, reading: ReadingOptions): AsyncGenerator<RecordedMessage> {
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

/** Formats one line per problem: `boiler.csv:17: what is wrong; what would be right`. */
export function describeProblems(recording: Recording): string[] {
  const lines = recording.problems.map(({ line, message, suggestion }) => {
    return visible(`${recording.name}:${line}: ${message}${suggestion === undefined ? '' : `; ${suggestion}`}`)
  })
  if (recording.moreProblems > 0) lines.push(`${recording.name}: and ${recording.moreProblems} more problems`)
  return lines
}

export function describeMixed({ name, mixed }: Recording): string[] {
  return mixed.slice(0, MAX_SHOWN).map((column) => visible(`NOTE ${name}:${column.line}: ${mixedText(column)}`))
}

export function describeBack({ name, back, order }: Recording, { zone }: RecordingOptions): string | undefined {
  if (back === undefined || order === 'lived') return undefined
  const goes = `goes back ${formatSpan(back.previous - back.time)} to ${formatTime(back.time, zone)}`
  const lines = back.count === 1 ? '1 line is' : `${back.count} lines are`
  const taken =
    order === 'time' ? 'processed in order of time; --order file processes' : 'processed late; --order time sorts'
  return visible(`WARNING ${name}:${back.line}: ${goes}; ${lines} ${taken} them`)
}

function withoutArrival(line: number, value: unknown): LineProblem {
  const message =
    value === undefined
      ? `the message has no ${ARRIVAL_FIELD}`
      : `${ARRIVAL_FIELD} ${JSON.stringify(value)} is not a time`
  const suggestion = `write the time of arrival as epoch ms or ISO 8601, or use --order time`
  return { line, message, suggestion }
}

function nothing(format: RecordingFormat | undefined): LineProblem {
  return format === undefined
    ? {
        line: 1,
        message: 'the file is empty',
        suggestion: 'write CSV with a timestamp column, or one JSON message per line',
      }
    : { line: 1, message: 'the file has no messages', suggestion: 'write at least one line below the header' }
}
