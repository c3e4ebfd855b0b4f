/** Reads a recording as batches of samples, each with its rejected lines and its position in the file. */
import { isTooLongForId, MAX_ID_BYTES, UNSTORABLE } from '#kernel'
import {
  type LineProblem,
  type MessageTaker,
  type ReadingOptions,
  readMessages,
  type RecordedMessage,
  type RecordedRow,
} from '#formats/recording'
import type { Sample, SampleValue } from '#storage'
import { unpacked } from './import-reading.ts'

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
