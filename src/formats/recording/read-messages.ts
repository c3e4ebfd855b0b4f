/** Reads a recording as CSV or NDJSON, depending on its first character. */
import type { ColumnTypes } from './column-types.ts'
import { CsvFormat } from './csv-format.ts'
import { LineSplitter, MAX_LINE, NO_LINES, type LineTaker, type TakenLines } from './lines.ts'
import type { LineProblem, MessageFormat, MessageTaker, ReadingOptions } from './message-taker.ts'
import { NdjsonFormat } from './ndjson-format.ts'
import type { EpochSpan } from './times.ts'
import { asUtf8 } from './utf8.ts'
import type { ValueTypes } from './value-types.ts'

export type RecordingFormat = 'CSV' | 'NDJSON'

/** In line order, yielding after each chunk. A first character `{` begins NDJSON, anything else CSV. */
export async function* readMessages(
  content: AsyncIterable<Uint8Array>,
  options: ReadingOptions,
  taker: MessageTaker,
): AsyncGenerator<undefined, RecordingFormat | undefined> {
  const { kind, isRefused } = yield* readLines(content, options, taker)
  return isRefused ? undefined : kind
}

export interface ReadFile {
  readonly kind: RecordingFormat | undefined
  readonly isRefused: boolean
  readonly fileProblems: readonly LineProblem[]
  readonly epochs: EpochSpan | undefined
  readonly headerTypes: ValueTypes
}

export async function* readLines(
  content: AsyncIterable<Uint8Array>,
  options: ReadingOptions,
  taker: MessageTaker,
  columns?: ColumnTypes,
): AsyncGenerator<undefined, ReadFile> {
  const lines = new Lines(options, taker, columns)
  const splitter = new LineSplitter(lines)
  let first = true
  for await (const chunk of asUtf8(content, options.encoding ?? 'utf-8')) {
    const foreign = first ? foreignBytes(chunk) : undefined
    if (foreign !== undefined) return lines.refuse({ line: 1, ...foreign })
    first = false
    splitter.push(chunk)
    if (lines.isRefused) return lines
    yield
  }
  splitter.end()
  lines.end()
  yield
  return lines
}

class Lines implements LineTaker, ReadFile {
  readonly #options: ReadingOptions
  readonly #taker: MessageTaker
  readonly #columns: ColumnTypes | undefined
  #format: MessageFormat | undefined
  readonly #problems: LineProblem[] = []
  kind: RecordingFormat | undefined
  isRefused = false

  constructor(options: ReadingOptions, taker: MessageTaker, columns: ColumnTypes | undefined) {
    this.#options = options
    this.#taker = taker
    this.#columns = columns
  }

  get epochs(): EpochSpan | undefined {
    return this.#format?.epochs
  }

  get headerTypes(): ValueTypes {
    return this.#format?.headerTypes ?? NO_TYPES
  }

  get fileProblems(): readonly LineProblem[] {
    return [...this.#problems, ...(this.#format?.fileProblems ?? [])]
  }

  refuse(problem: LineProblem): this {
    this.isRefused = true
    this.#problems.push(problem)
    this.#taker.problem(problem)
    return this
  }

  line(text: string, number: number): void {
    if (this.isRefused) return
    this.#format ??= this.#choose(text.trimStart(), number)
    this.#format?.line(text, number)
  }

  lines(chunk: Uint8Array, start: number, number: number): TakenLines {
    return this.#format?.lines?.(chunk, start, number) ?? NO_LINES
  }

  tooLong(line: number): void {
    this.#taker.problem({
      line,
      message: `the line is longer than ${MAX_LINE} characters`,
      suggestion: 'use one message per line',
    })
  }

  end(): void {
    this.#format?.end()
  }

  #choose(start: string, line: number): MessageFormat | undefined {
    if (start === '') return undefined
    if (start.startsWith('[')) {
      const suggestion = 'use one message per line without a surrounding list: jq -c ".[]" FILE'
      this.refuse({ line, message: 'the recording is one JSON list', suggestion })
      return undefined
    }
    const { delimiter, decimal, map } = this.#options
    if (start.startsWith('{') && (delimiter ?? decimal ?? map) !== undefined) {
      this.refuse({
        line,
        message: 'the recording is NDJSON',
        suggestion: 'omit delimiter, decimal and map, which are for CSV',
      })
      return undefined
    }
    this.kind = start.startsWith('{') ? 'NDJSON' : 'CSV'
    return this.kind === 'CSV'
      ? new CsvFormat(this.#options, this.#taker, this.#columns)
      : new NdjsonFormat(this.#options, this.#taker, this.#columns)
  }
}

const NO_TYPES: ValueTypes = new Map()

function foreignBytes(chunk: Uint8Array): { message: string; suggestion: string } | undefined {
  const [a, b] = chunk
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) {
    return { message: 'the file is UTF-16', suggestion: 'save it as UTF-8' }
  }
  if (a === 0x1f && b === 0x8b) {
    return {
      message: 'the file is compressed',
      suggestion: 'decompress it: gunzip -c FILE | reflexarc simulate RULE --messages -',
    }
  }
  return undefined
}
