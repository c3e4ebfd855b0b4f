/** Computes groups of samples from the store's sums where these suffice, else with one group in memory at a time. */
import type { SampleValue } from '#storage'
import { BucketFigures, type Figures, Gathering } from './figures.ts'
import type { SampleReader, Span } from './sample-reader.ts'

export interface Aggregate {
  readonly name: string
  /** what the value is computed from: the store's sums, a deviation, differences, or all samples by rank */
  readonly needs: 'sums' | 'deviation' | 'change' | 'ranks'
  of(group: Figures): SampleValue | null
}

/** Consecutive groups of the same width, which the store can sum together. */
export interface GroupRun {
  readonly from: number
  readonly width: number
  readonly count: number
}

export type GroupValues = readonly (SampleValue | null)[]

export interface GroupRequest {
  readonly aggregates: readonly Aggregate[]
  readonly filter?: ((value: SampleValue) => boolean) | undefined
  readonly groups: {
    readonly runs: readonly GroupRun[]
    startOf(time: number): number
  }
  readonly span: Span
  /** where differences start, since the first in a group refers to an earlier sample; default: the start of the span */
  readonly since?: number
}

export async function valuesOfGroups(
  reader: SampleReader,
  request: GroupRequest,
): Promise<ReadonlyMap<number, GroupValues>> {
  const { aggregates, filter, groups, span, since = span.from } = request
  const needs = new Set(aggregates.map((aggregate) => aggregate.needs))
  if (filter !== undefined || needs.has('ranks') || needs.has('change')) {
    return gathered(reader, request, { ...span, from: needs.has('change') ? since : span.from })
  }
  const values = new Map<number, GroupValues>()
  for (const run of groups.runs) {
    const until = Math.min(run.from + run.count * run.width - 1, span.until)
    const part = { ...span, from: run.from, until }
    const doubtful: number[] = []
    for (const bucket of await reader.buckets(part, run.width)) {
      const figures = new BucketFigures(bucket)
      values.set(bucket.start, valuesOf(aggregates, figures))
      if (needs.has('deviation') && figures.deviation === undefined) doubtful.push(bucket.start)
    }
    const [first, last = first] = [doubtful[0], doubtful.at(-1)]
    if (first === undefined || last === undefined) continue
    const again = { ...part, from: first, until: Math.min(last + run.width - 1, until) }
    for (const [label, better] of await gathered(reader, request, again)) values.set(label, better)
  }
  return values
}

/** Computes values from the samples themselves. `span` must begin at the start of a group. */
async function gathered(
  reader: SampleReader,
  { aggregates, filter, groups }: GroupRequest,
  span: Span,
): Promise<ReadonlyMap<number, GroupValues>> {
  const values = new Map<number, GroupValues>()
  const ranked = aggregates.some(({ needs }) => needs === 'ranks')
  let group: Gathering | undefined
  let previous: number | undefined
  for await (const samples of reader.columns(span)) {
    for (let i = 0; i < samples.times.length; i += 1) {
      const value = samples.values[i] ?? 0
      if (filter?.(value) === false) continue
      const start = groups.startOf(samples.times[i] ?? 0)
      if (group?.start !== start) {
        if (group !== undefined) values.set(group.start, valuesOf(aggregates, group))
        group = new Gathering(start, value, ranked)
      }
      group.add(value, previous)
      if (typeof value === 'number') previous = value
    }
  }
  if (group !== undefined) values.set(group.start, valuesOf(aggregates, group))
  return values
}

function valuesOf(aggregates: readonly Aggregate[], figures: Figures): GroupValues {
  return aggregates.map((aggregate) => aggregate.of(figures))
}
