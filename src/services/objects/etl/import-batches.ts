/** Reads a recording as batches of samples, each with its rejected lines and its position in the file. */
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { IANAZone } from 'luxon'
import {
  type ClockZone,
  type LineProblem,
  type MessageTaker,
  mixedText,
  type ReadingOptions,
  readMessages,
  readReadingTexts,
  type RecordedMessage,
  type RecordedRow,
  surveyRecording,
  UTC,
} from '#formats/recording'
import { AppError, decodedText, isTooLongForId, MAX_ID_BYTES, UNSTORABLE, withFirst } from '#kernel'
import { offsetMs } from '#services/shared'
import type { Sample, SampleValue } from '#storage'

export interface ImportBatch {
  readonly samples: readonly Sample[]
  readonly messages: number
  readonly refused: readonly LineProblem[]
  readonly line: number
}

export interface BatchOptions {
  /** lines to skip; default 0 */
  readonly after?: number
  /** approximate number of samples per batch; default 20,000 */
  readonly size?: number
}

const SIZE = 20_000
const MAX_TEXT = 65_536
const MAX_KNOWN = 100_000

/** Reads CSV in either form, or NDJSON, plain or gzipped. The last batch may be empty. Rejects on invalid gzip data. */
export async function* importBatches(
  content: AsyncIterable<Uint8Array>,
  reading: ReadingOptions,
  { after = 0, size = SIZE }: BatchOptions = {},
): AsyncGenerator<ImportBatch> {
  const taker = new SampleTaker(after)
  for await (const _ of readMessages(await unpacked(content), reading, taker)) {
    if (taker.size >= size) yield taker.batch()
  }
  yield taker.batch()
}

class SampleTaker implements MessageTaker {
  readonly #after: number
  #samples: Sample[] = []
  #refused: LineProblem[] = []
  #messages = 0
  #line: number
  /** valid names; sharing one string per name makes grouping fast */
  readonly #names = new Map<string, string>()

  constructor(after: number) {
    this.#after = after
    this.#line = after
  }

  get size(): number {
    return this.#samples.length + this.#refused.length
  }

  batch(): ImportBatch {
    const batch = { samples: this.#samples, messages: this.#messages, refused: this.#refused, line: this.#line }
    this.#samples = []
    this.#refused = []
    this.#messages = 0
    return batch
  }

  problem(problem: LineProblem): void {
    if (problem.line <= this.#after) return
    this.#line = problem.line
    this.#refused.push(problem)
  }

  message(message: RecordedMessage, line: number): void {
    if (line <= this.#after) return
    this.#line = line
    const { timestamp: time } = message
    const before = this.#samples.length
    const resource = this.#nameOf(message.resource, 'the resource')
    const fault = typeof resource === 'string' ? this.#take(message, resource, time) : resource
    if (fault === undefined) {
      this.#messages++
      return
    }
    // a line is accepted or rejected as a whole
    this.#samples.length = before
    const [text, suggestion] = fault
    this.#refused.push({ line, message: text, suggestion })
  }

  row({ resource: named, timestamp: time, count, metrics, values }: RecordedRow, line: number): boolean {
    if (line <= this.#after) return true
    const resource = this.#nameOf(named, 'the resource')
    if (typeof resource !== 'string') return false
    const before = this.#samples.length
    for (let i = 0; i < count; i += 1) {
      if (this.#add(resource, metrics[i] ?? '', time, values[i]) === undefined) continue
      this.#samples.length = before
      return false
    }
    this.#line = line
    this.#messages++
    return true
  }

  #take(message: RecordedMessage, resource: string, time: number): Fault | undefined {
    for (const name of Object.keys(message)) {
      if (name === 'resource' || name === 'timestamp') continue
      const fault = this.#add(resource, name, time, message[name])
      if (fault !== undefined) return fault
    }
    return undefined
  }

  #add(resource: string, name: string, time: number, value: unknown): Fault | undefined {
    if (value === null || value === undefined || Number.isNaN(value)) return undefined
    const metric = this.#nameOf(name, 'the metric')
    if (typeof metric !== 'string') return metric
    const fault = valueFault(metric, value)
    if (fault !== undefined) return fault
    this.#samples.push({ resource, metric, time, value: value as SampleValue })
    return undefined
  }

  #nameOf(name: string, what: string): string | Fault {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    if (name === '') return [`${what} has no name`, 'name it']
    if (isTooLongForId(name)) return [`the name of ${what} has more than ${MAX_ID_BYTES} bytes`, 'shorten it']
    if (UNSTORABLE.test(name)) return [`the name of ${what} has a NUL or half of a surrogate pair`, 'rename it']
    if (this.#names.size >= MAX_KNOWN) this.#names.clear()
    this.#names.set(name, name)
    return name
  }
}

type Fault = readonly [message: string, suggestion: string]

function beyond(metric: string): Fault {
  return [`${metric} is beyond 1.8e308`, 'leave it empty']
}

function valueFault(metric: string, value: unknown): Fault | undefined {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? undefined : beyond(metric)
    case 'boolean':
      return undefined
    case 'string':
      if (value.length * 3 > MAX_TEXT && Buffer.byteLength(value) > MAX_TEXT) {
        return [`${metric} has ${Buffer.byteLength(value)} bytes`, `a text has at most ${MAX_TEXT}`]
      }
      return UNSTORABLE.test(value)
        ? [`${metric} has a NUL or half of a surrogate pair`, 'write text that is valid Unicode']
        : undefined
    default:
      return [
        `${metric} is ${Array.isArray(value) ? 'a list' : 'an object'}`,
        'series store numbers, texts and booleans: write each value as a separate metric',
      ]
  }
}

const NAMES = ['unit', 'types', 'encoding', 'delimiter', 'decimal', 'map', 'zone', 'resource'] as const
const DAY = 86_400_000

/** Settings from the metadata `x-amz-meta-<name>`, each percent-encoded; `map` is a JSON list of `column=metric`. */
export type ReadingSettings = { readonly [Name in (typeof NAMES)[number]]?: string }

export interface FoundColumns {
  /** type by column, for the first 100 columns */
  readonly types: Readonly<Record<string, string>>
  /** text columns that also contain numbers, with the reason; the first 100 columns */
  readonly notes: readonly LineProblem[]
}

interface SurveyedFile {
  readonly reading: ReadingOptions
  readonly columns: FoundColumns
  readonly problems: readonly LineProblem[]
}

const MAX_SHOWN = 100

export function readingIn(metadata: Readonly<Record<string, string>> = {}): ReadingSettings | undefined {
  const entries = NAMES.flatMap((name) => {
    const text = metadata[name]
    return text === undefined ? [] : [[name, decodedText(text)] as const]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

export function readingOf({ map, zone, resource, ...texts }: ReadingSettings = {}): ReadingOptions {
  const problems: string[] = []
  const problem = (name: string, text: string): void => void problems.push(`the metadata ${name}: ${text}`)
  const list = map === undefined ? [] : listIn(map)
  if (list === undefined) problem('map', 'it is not a JSON list of texts; write ["column=metric"]')
  const reading = readReadingTexts({ ...texts, map: list ?? [] }, problem)
  const clock = zone === undefined ? UTC : zoneNamed(zone)
  if (clock === undefined)
    problem('zone', `"${zone?.slice(0, 80)}" is not a time zone; write one such as Europe/Brussels`)
  if (problems.length > 0) throw new AppError('VALIDATION', problems.join('; '))
  return { zone: clock ?? UTC, resource, everyProblem: true, ...reading }
}

function listIn(text: string): readonly string[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined
  } catch {
    return undefined
  }
}

function zoneNamed(name: string): ClockZone | undefined {
  if (!IANAZone.isValidZone(name)) return undefined
  return {
    name,
    instantsOf: (reading) => {
      const offsets = new Set([reading - DAY, reading + DAY].map((time) => offsetMs(time, name)))
      const instants = [...offsets].map((offset) => reading - offset)
      return instants.filter((time) => time + offsetMs(time, name) === reading).toSorted((a, b) => a - b)
    },
  }
}

export async function surveyFile(
  content: AsyncIterable<Uint8Array>,
  reading: ReadingOptions,
  isOver: () => boolean,
): Promise<SurveyedFile | undefined> {
  const survey = surveyRecording(await unpacked(content), reading)
  let step = await survey.next()
  for (; step.done !== true; step = await survey.next()) {
    if (isOver()) {
      await survey.return({ format: undefined, types: new Map(), mixed: [], problems: [] })
      return undefined
    }
  }
  const { types, mixed, problems } = step.value
  return {
    reading: { ...reading, types },
    columns: {
      types: Object.fromEntries([...types].slice(0, MAX_SHOWN)),
      notes: mixed.slice(0, MAX_SHOWN).map((column) => ({ line: column.line, message: mixedText(column) })),
    },
    problems,
  }
}

async function unpacked(content: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const chunks = content[Symbol.asyncIterator]()
  const first = await chunks.next()
  const whole = withFirst(first, chunks)
  const isPacked = first.done !== true && first.value[0] === 0x1f && first.value[1] === 0x8b
  if (!isPacked) return whole
  // an error in either stream reaches the reader
  return pipeline(Readable.from(whole, { objectMode: false }), createGunzip(), () => undefined)
}
