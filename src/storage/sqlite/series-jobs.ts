/** Defines the jobs for the writer of series.db. */
import type { CheckedRemoval, PreparedBatch } from '../check-series.ts'
import type { Sample } from '../series.ts'
import { CODE, codeOf, EXPIRES, NUMBER, SAMPLE, TEXT, TIME, TRUTH, VALUE, type SampleBlock } from './sample-block.ts'
import type { NotWritten } from './failure.ts'
import { MessagesBuilder, type MessageColumns } from './message-block.ts'

export type SeriesJob = ({ readonly kind: 'append'; readonly tenant: string } & PreparedBatch) | RemoveJob | ExpireJob

export type RemoveJob = { readonly kind: 'remove'; readonly tenant: string } & CheckedRemoval

/** Deletes expired data. The result is the number deleted; fewer than `limit` means complete. */
export interface ExpireJob {
  readonly kind: 'expire'
  readonly tenant: string
  readonly now: number
  readonly limit: number
}

/** Consecutive appends as columns, since copying objects between threads costs more than writing them. */
export interface AppendOperation {
  readonly kind: 'append'
  /** resource and metric of each series, in pairs */
  readonly names: readonly string[]
  /** samples, with the index of a pair in `names` in place of the series */
  readonly block: SampleBlock
  /** resource and name of each stream, in pairs */
  readonly streams: readonly string[]
  /** messages of all appends, with the index of a pair in `streams` in place of the stream */
  readonly messages: readonly MessageColumns[]
  readonly appends: readonly Append[]
  readonly synced: boolean
}

/** One append: its samples up to `end` and messages up to `messages`, starting where the previous append ends. */
export interface Append {
  readonly tenant: string
  readonly end: number
  readonly messages: number
  readonly applies: PreparedBatch['applies']
}

export type SeriesOperation = AppendOperation | RemoveJob | ExpireJob

/** Result of an append, removal or expiry: the number deleted, or an error. */
export type SeriesAnswer = number | NotWritten

type AppendJob = Extract<SeriesJob, { readonly kind: 'append' }>

export function packSeriesJobs(jobs: readonly SeriesJob[]): {
  readonly wire: readonly SeriesOperation[]
  readonly transfer: readonly ArrayBuffer[]
} {
  const wire: SeriesOperation[] = []
  const transfer: ArrayBuffer[] = []
  let run: AppendJob[] = []
  const endRun = (): void => {
    if (run.length === 0) return
    const operation = packAppends(run)
    wire.push(operation)
    const { samples } = operation.block
    if (samples.length >= WORTH_A_TRANSFER) transfer.push(samples.buffer)
    run = []
  }
  for (const job of jobs) {
    if (job.kind === 'append') {
      run.push(job)
      continue
    }
    endRun()
    wire.push(job)
  }
  endRun()
  return { wire, transfer }
}

/** Length of columns from which transferring them is faster than copying. */
const WORTH_A_TRANSFER = 4_096

function packAppends(jobs: readonly AppendJob[]): AppendOperation {
  const packer = new SamplePacker(jobs.reduce((sum, { samples }) => sum + samples.length, 0))
  const streams = new NamePairs()
  const builder = new MessagesBuilder()
  const blocks: MessageColumns[] = []
  const appends: Append[] = []
  let count = 0
  for (const { tenant, samples, messages, applies } of jobs) {
    for (const sample of samples) packer.add(sample)
    for (const { resource, stream, text, time, expires } of messages) {
      builder.add(streams.index(resource, stream), time, expires ?? Number.NaN, text)
      if (builder.isFull) blocks.push(builder.columns())
    }
    count += messages.length
    appends.push({ tenant, end: packer.count, messages: count, applies })
  }
  if (builder.count > 0) blocks.push(builder.columns())
  const { names, block } = packer
  const synced = jobs.some((job) => job.synced)
  return { kind: 'append', names, block, streams: streams.names, messages: blocks, appends, synced }
}

class NamePairs {
  readonly names: string[] = []
  readonly #indexes = new Map<string, Map<string, number>>()
  /** first name of the previous pair, which most pairs share */
  #first: string | undefined
  #seconds = new Map<string, number>()

  index(first: string, second: string): number {
    if (first !== this.#first) {
      this.#first = first
      const known = this.#indexes.get(first)
      this.#seconds = known ?? new Map<string, number>()
      if (known === undefined) this.#indexes.set(first, this.#seconds)
    }
    const known = this.#seconds.get(second)
    if (known !== undefined) return known
    const index = this.names.length / 2
    this.#seconds.set(second, index)
    this.names.push(first, second)
    return index
  }
}

class SamplePacker {
  count = 0
  readonly #samples: Float64Array<ArrayBuffer>
  readonly #words = new Map<string, number>()
  readonly #series = new NamePairs()

  constructor(samples: number) {
    this.#samples = new Float64Array(samples * SAMPLE)
  }

  get names(): readonly string[] {
    return this.#series.names
  }

  get block(): SampleBlock {
    return { samples: this.#samples, words: [...this.#words.keys()] }
  }

  add({ resource, metric, time, value, expires }: Sample): void {
    const at = this.count * SAMPLE
    const index = this.#series.index(resource, metric)
    const samples = this.#samples
    if (typeof value === 'number') {
      samples[at + CODE] = codeOf(index, NUMBER)
      samples[at + VALUE] = value
    } else if (typeof value === 'boolean') {
      samples[at + CODE] = codeOf(index, TRUTH)
      samples[at + VALUE] = Number(value)
    } else {
      samples[at + CODE] = codeOf(index, TEXT)
      samples[at + VALUE] = this.#word(value)
    }
    samples[at + TIME] = time
    samples[at + EXPIRES] = expires ?? Number.NaN
    this.count += 1
  }

  #word(text: string): number {
    const known = this.#words.get(text)
    if (known !== undefined) return known
    const index = this.#words.size
    this.#words.set(text, index)
    return index
  }
}
