/** Reads a recording whose format its first character decides. */
import { CsvFormat } from './csv-format.ts'
import { LineSplitter, MAX_LINE, NO_LINES, type LineTaker, type TakenLines } from './lines.ts'
import type { MessageFormat, MessageTaker, ReadingOptions } from './message-taker.ts'
import { NdjsonFormat } from './ndjson-format.ts'

export type RecordingFormat = 'CSV' | 'NDJSON'

/**
 * Reads a recording as a stream and hands each message or problem to `taker`, in the order of the lines. Yields after
 * each chunk of the file, so that the caller can take what has gathered; gives the format, undefined for an empty file.
 * The first character that is not blank decides the format: `{` begins NDJSON, anything else CSV.
 */
export async function* readMessages(
  content: AsyncIterable<Uint8Array>,
  options: ReadingOptions,
  taker: MessageTaker,
): AsyncGenerator<undefined, RecordingFormat | undefined> {
  const lines = new Lines(options, taker)
  const splitter = new LineSplitter(lines)
  let first = true
  for await (const chunk of content) {
    const foreign = first ? foreignBytes(chunk) : undefined
    if (foreign !== undefined) {
      taker.problem({ line: 1, ...foreign })
      return undefined
    }
    first = false
    splitter.push(chunk)
    if (lines.refused) return undefined
    yield
  }
  splitter.end()
  lines.end()
  yield
  return lines.kind
}

class Lines implements LineTaker {
  readonly #options: ReadingOptions
  readonly #taker: MessageTaker
  #format: MessageFormat | undefined
  kind: RecordingFormat | undefined
  /** the file is of a kind whose other lines are not worth a look */
  refused = false

  constructor(options: ReadingOptions, taker: MessageTaker) {
    this.#options = options
    this.#taker = taker
  }

  line(text: string, number: number): void {
    if (this.refused) return
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
      suggestion: 'one message a line',
    })
  }

  end(): void {
    this.#format?.end()
  }

  #choose(start: string, line: number): MessageFormat | undefined {
    if (start === '') return undefined
    if (start.startsWith('[')) {
      this.refused = true
      const suggestion = 'write one message a line without the list around them: jq -c ".[]" FILE'
      this.#taker.problem({ line, message: 'the recording is one JSON list', suggestion })
      return undefined
    }
    this.kind = start.startsWith('{') ? 'NDJSON' : 'CSV'
    return this.kind === 'CSV'
      ? new CsvFormat(this.#options, this.#taker)
      : new NdjsonFormat(this.#options, this.#taker)
  }
}

function foreignBytes(chunk: Uint8Array): { message: string; suggestion: string } | undefined {
  const [a, b] = chunk
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) {
    return { message: 'the file is UTF-16', suggestion: 'save it as UTF-8' }
  }
  if (a === 0x1f && b === 0x8b) {
    return {
      message: 'the file is compressed',
      suggestion: 'unpack it: gunzip -c FILE | reflexarc simulate RULE --messages -',
    }
  }
  return undefined
}
