/**
 * What groups of samples come to. Sums that storage has are asked there; what needs each sample goes through them in
 * slices, one group in memory.
 */
import type { SampleValue } from '#storage'
import { BucketFigures, type Figures, Gathering } from './figures.ts'
import type { SampleReader, Span } from './sample-reader.ts'

export interface Aggregate {
  /** as it was asked for */
  readonly name: string
  /** what has to be known of a group: sums that storage has, a deviation, or every sample */
  readonly needs: 'sums' | 'deviation' | 'change' | 'ranks'
  /** null where there is nothing to tell, as of no numeric sample */
  of(group: Figures): SampleValue | null
}

/** Groups of one width, one behind the other: storage can reckon them at once. */
export interface GroupRun {
  readonly from: number
  readonly width: number
  readonly count: number
}

/** one for each of the aggregates */
export type GroupValues = readonly (SampleValue | null)[]

export interface GroupRequest {
  readonly aggregates: readonly Aggregate[]
  readonly filter?: ((value: SampleValue) => boolean) | undefined
  readonly groups: {
    readonly runs: readonly GroupRun[]
    /** when the group of an instant begins */
    startOf(time: number): number
  }
  /** whose samples; it begins where a group does */
  readonly span: Span
  /** where differences begin: the first one of a group is to a sample before it. Default: with the span */
  readonly since?: number
}

/** By the begin of the group, of those that have a sample. */
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

/** From the samples themselves. `span` begins where a group does. */
async function gathered(
  reader: SampleReader,
  { aggregates, filter, groups }: GroupRequest,
  span: Span,
): Promise<ReadonlyMap<number, GroupValues>> {
  const values = new Map<number, GroupValues>()
  const ranked = aggregates.some(({ needs }) => needs === 'ranks')
  let group: Gathering | undefined
  let previous: number | undefined
  for await (const samples of reader.slices(span)) {
    for (const { time, value } of samples) {
      if (filter?.(value) === false) continue
      const start = groups.startOf(time)
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
