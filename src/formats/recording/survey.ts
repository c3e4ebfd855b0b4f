/** Scans a recording before it is read: infers its columns, and finds problems of the whole file. */
import { msOf, otherUnitOf, unitName } from '#kernel'
import { MAX_METRICS, ColumnTypes, type MixedColumn } from './column-types.ts'
import type { LineProblem, MessageTaker, ReadingOptions } from './message-taker.ts'
import { readLines, type RecordingFormat } from './read-messages.ts'
import type { EpochSpan } from './times.ts'
import { Utf8Check, type ForeignByte } from './utf8.ts'
import type { ValueTypes } from './value-types.ts'

const MAX_NAMED = 8

export interface Survey {
  /** undefined: empty file */
  readonly format: RecordingFormat | undefined
  readonly types: ValueTypes
  readonly mixed: readonly MixedColumn[]
  readonly problems: readonly LineProblem[]
}

/** Reads the file once, to its end or the first invalid byte. Yields after each chunk. */
export async function* surveyRecording(
  content: AsyncIterable<Uint8Array>,
  options: ReadingOptions,
): AsyncGenerator<undefined, Survey> {
  const problems: LineProblem[] = []
  const columns = new ColumnTypes()
  const taker = new FileProblems()
  let foreign: ForeignByte | undefined
  const check = new Utf8Check()
  const checked = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      foreign = options.encoding === 'latin1' ? undefined : check.push(chunk)
      yield chunk
      if (foreign !== undefined) return
    }
  }
  const lines = readLines(checked(), options, taker, columns)
  let step = await lines.next()
  for (; step.done !== true; step = await lines.next()) yield
  const { kind: format, epochs, headerTypes, fileProblems } = step.value
  problems.push(...fileProblems)
  // the cause is more specific than single problems, for example a compressed file
  if (problems.length === 0) {
    if (foreign !== undefined) problems.push(foreignProblem(foreign))
    else problems.push(...unitProblems(options, epochs), ...nameProblems(options, columns))
  }
  const types = new Map([...columns.types, ...headerTypes, ...(options.types ?? [])])
  return { format, types, mixed: columns.mixed, problems }
}

function unitProblems({ unit: declared }: ReadingOptions, epochs: EpochSpan | undefined): readonly LineProblem[] {
  const unit = epochs === undefined || declared !== undefined ? undefined : otherUnitOf(epochs.least, epochs.most)
  if (epochs === undefined || unit === undefined) return []
  const { least } = epochs
  const [as, asMs] = [shownTime(msOf(least, unit)), shownTime(least)]
  return [
    {
      line: 1,
      message: `the times are epoch ${unitName(unit)}: ${least} is ${as}, and in milliseconds it would be ${asMs}`,
      suggestion: `read them with --unit ${unit}, or with --unit ms if they are milliseconds`,
    },
  ]
}

function nameProblems({ types }: ReadingOptions, columns: ColumnTypes): readonly LineProblem[] {
  const { names } = columns
  if (names.length >= MAX_METRICS) {
    return [
      { line: 1, message: `the file has ${MAX_METRICS} metrics or more`, suggestion: 'split it into several files' },
    ]
  }
  const missing = [...(types?.keys() ?? [])].filter((name) => !columns.has(name))
  return missing.map((name) => ({
    line: 1,
    message: `--types names "${name}", which is not in the file`,
    ...(names.length > 0 && { suggestion: `it has ${names.slice(0, MAX_NAMED).join(', ')}` }),
  }))
}

class FileProblems implements MessageTaker {
  message(): void {}
  problem(): void {}
}

function foreignProblem({ line, column, byte }: ForeignByte): LineProblem {
  const shown = `0x${byte.toString(16).toUpperCase()}`
  return {
    line,
    message: `byte ${column} of the line, ${shown}, is not UTF-8`,
    suggestion: 'read it with --encoding latin1, or save the file as UTF-8',
  }
}

function shownTime(ms: number): string {
  return Math.abs(ms) <= 8_640_000_000_000_000 ? new Date(ms).toISOString() : 'beyond any calendar'
}
