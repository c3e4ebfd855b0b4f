/** What the main thread hands to the writer of series.db. */
import type { CheckedRemoval, PreparedBatch } from '../check-series.ts'
import type { SampleValue } from '../series.ts'

/** As callers hand it over; `packSeriesJobs` turns a batch of them into operations. */
export type SeriesJob = ({ readonly kind: 'append'; readonly tenant: string } & PreparedBatch) | RemoveJob | ExpireJob

export type RemoveJob = { readonly kind: 'remove'; readonly tenant: string } & CheckedRemoval

/** Answered with how many were let go; fewer than `limit` when none is left. */
export interface ExpireJob {
  readonly kind: 'expire'
  readonly tenant: string
  readonly now: number
  readonly limit: number
}

/** Appends one after the other, their samples as columns: copying objects between threads costs more than writing them. */
export interface AppendOperation {
  readonly kind: 'append'
  /** resource and metric of each series that occurs, in pairs */
  readonly names: readonly string[]
  /**
   * `SAMPLE` numbers for each: the place of its pair in `names`, its time, its value (NaN where that is no number: then
   * it stands in `others`) and when it expires (NaN where it stays)
   */
  readonly samples: Float64Array<ArrayBuffer>
  readonly others: ReadonlyMap<number, string | boolean>
  /** resource, stream and body of each message */
  readonly texts: readonly string[]
  /** time of each message, and when it expires: NaN where it stays */
  readonly stamps: readonly number[]
  readonly appends: readonly Append[]
}

export const SAMPLE = 4

/** One call's part: samples up to `end` and messages up to `messages`, from where the one before ended. */
export interface Append {
  readonly tenant: string
  readonly end: number
  readonly messages: number
  readonly applies: PreparedBatch['applies']
}

export type SeriesOperation = AppendOperation | RemoveJob | ExpireJob

/** Each append, removal and expiry has one answer, in order: how many were let go, else 0; or why it failed. */
export type SeriesAnswer = number | { readonly failure: string }

type AppendJob = Extract<SeriesJob, { readonly kind: 'append' }>

/** A batch as operations: appends that follow one another become one. */
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
    if (operation.samples.length >= WORTH_A_TRANSFER) transfer.push(operation.samples.buffer)
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

/** Fewer numbers are copied sooner than handed over. */
const WORTH_A_TRANSFER = 4_096

function packAppends(jobs: readonly AppendJob[]): AppendOperation {
  const packed = new Float64Array(jobs.reduce((sum, { samples }) => sum + samples.length, 0) * SAMPLE)
  const others = new Map<number, string | boolean>()
  const names: string[] = []
  const places = new Map<string, Map<string, number>>()
  const texts: string[] = []
  const stamps: number[] = []
  const appends: Append[] = []
  let i = 0
  for (const { tenant, samples, messages, applies } of jobs) {
    for (const { resource, metric, time, value, expires } of samples) {
      let metrics = places.get(resource)
      if (metrics === undefined) {
        metrics = new Map<string, number>()
        places.set(resource, metrics)
      }
      let place = metrics.get(metric)
      if (place === undefined) {
        place = names.length / 2
        metrics.set(metric, place)
        names.push(resource, metric)
      }
      const at = i * SAMPLE
      packed[at] = place
      packed[at + 1] = time
      packed[at + 2] = numberOf(value)
      packed[at + 3] = expires ?? Number.NaN
      if (typeof value !== 'number') others.set(i, value)
      i += 1
    }
    for (const { resource, stream, text, time, expires } of messages) {
      texts.push(resource, stream, text)
      stamps.push(time, expires ?? Number.NaN)
    }
    appends.push({ tenant, end: i, messages: stamps.length / 2, applies })
  }
  return { kind: 'append', names, samples: packed, others, texts, stamps, appends }
}

const numberOf = (value: SampleValue): number => (typeof value === 'number' ? value : Number.NaN)
