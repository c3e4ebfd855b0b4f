/** What the main thread hands to the writer of series.db. */
import type { CheckedRemoval, PreparedBatch, PreparedMessage } from '../check-series.ts'
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
  /** by sample, the place of its pair in `names` */
  readonly series: Uint32Array<ArrayBuffer>
  readonly times: Float64Array<ArrayBuffer>
  /** NaN where the value is no number: then it stands in `others` */
  readonly values: Float64Array<ArrayBuffer>
  readonly others: ReadonlyMap<number, string | boolean>
  /** NaN where it stays; undefined when all stay */
  readonly expires: Float64Array<ArrayBuffer> | undefined
  readonly appends: readonly Append[]
}

/** One call's part: of the samples those up to `end`, from where the one before ended. */
export interface Append {
  readonly tenant: string
  readonly end: number
  readonly messages: readonly PreparedMessage[]
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
    transfer.push(operation.series.buffer, operation.times.buffer, operation.values.buffer)
    if (operation.expires !== undefined) transfer.push(operation.expires.buffer)
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

function packAppends(jobs: readonly AppendJob[]): AppendOperation {
  const length = jobs.reduce((sum, { samples }) => sum + samples.length, 0)
  const series = new Uint32Array(length)
  const times = new Float64Array(length)
  const values = new Float64Array(length)
  const others = new Map<number, string | boolean>()
  const expires = jobs.some(({ samples }) => samples.some((sample) => sample.expires !== undefined))
    ? new Float64Array(length)
    : undefined
  const names: string[] = []
  const places = new Map<string, Map<string, number>>()
  const appends: Append[] = []
  let i = 0
  for (const { tenant, samples, messages, applies } of jobs) {
    for (const sample of samples) {
      let metrics = places.get(sample.resource)
      if (metrics === undefined) {
        metrics = new Map<string, number>()
        places.set(sample.resource, metrics)
      }
      let place = metrics.get(sample.metric)
      if (place === undefined) {
        place = names.length / 2
        metrics.set(sample.metric, place)
        names.push(sample.resource, sample.metric)
      }
      series[i] = place
      times[i] = sample.time
      values[i] = numberOf(sample.value)
      if (typeof sample.value !== 'number') others.set(i, sample.value)
      if (expires !== undefined) expires[i] = sample.expires ?? Number.NaN
      i += 1
    }
    appends.push({ tenant, end: i, messages, applies })
  }
  return { kind: 'append', names, series, times, values, others, expires, appends }
}

const numberOf = (value: SampleValue): number => (typeof value === 'number' ? value : Number.NaN)
