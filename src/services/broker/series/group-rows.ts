/**
 * Groups of samples and what they come to: a group has the samples from its label, which is where it starts, up to and
 * without the next one, and every label below `until` has a row. A sample at `until` itself counts when its group began
 * before.
 *
 * Sums that storage has are asked there. What needs each sample goes through them in slices, one group in memory.
 */
import type { SampleValue } from '../../../storage/contract.ts'
import type { Aggregate } from './aggregates.ts'
import { type Figures, figuresOf, Gathering } from './figures.ts'
import { cutIntoGroups, type Groups } from './groups.ts'
import type { SampleReader, Span } from './sample-reader.ts'
import type { SeriesRequest } from './series-request.ts'
import type { ResolvedRange } from './time-range.ts'

/** The label of a group, then the value of each aggregate. */
export type Row = readonly [time: number, ...values: (SampleValue | null)[]]

/** What of a range fits into one answer. */
export interface Rows {
  readonly rows: readonly Row[]
  /** what to ask for what did not fit; absent when all did */
  readonly rest?: ResolvedRange & { readonly grouping?: string }
}

type Values = readonly (SampleValue | null)[]

export async function groupRows(reader: SampleReader, request: SeriesRequest): Promise<Rows> {
  const { range, descending, aggregates, resources, metric } = request
  const groups = cutIntoGroups(request)
  const { labels, end, rest } = groups
  const [from] = labels
  if (from === undefined) return { rows: [] }
  const span = { resources, metric, from, until: Math.min(end - 1, range.until) }
  const found = await valuesOfGroups(reader, request, span, groups)
  const none: Values = aggregates.map(() => null)
  const rows = labels.map((label): Row => [label, ...(found.get(label) ?? none)])
  if (descending) rows.reverse()
  return { rows, ...(rest && { rest }) }
}

/** By label, of those groups that have a sample. */
async function valuesOfGroups(
  reader: SampleReader,
  request: SeriesRequest,
  span: Span,
  groups: Groups,
): Promise<ReadonlyMap<number, Values>> {
  const { aggregates, filter, range } = request
  const needs = new Set(aggregates.map((aggregate) => aggregate.needs))
  if (filter !== undefined || needs.has('ranks') || needs.has('change')) {
    // the first difference of a group is to a sample before it
    const since = needs.has('change') ? range.from : span.from
    return gathered(reader, request, { ...span, from: since }, groups)
  }
  const values = new Map<number, Values>()
  for (const run of groups.runs) {
    const until = Math.min(run.from + run.count * run.width - 1, span.until)
    const part = { ...span, from: run.from, until }
    const doubtful: number[] = []
    for (const bucket of await reader.buckets(part, run.width)) {
      const figures = figuresOf(bucket)
      values.set(bucket.start, valuesOf(aggregates, figures))
      if (figures.deviation === undefined) doubtful.push(bucket.start)
    }
    const [first, last = first] = [doubtful[0], doubtful.at(-1)]
    if (!needs.has('deviation') || first === undefined || last === undefined) continue
    const again = { ...part, from: first, until: Math.min(last + run.width - 1, until) }
    for (const [label, better] of await gathered(reader, request, again, groups)) values.set(label, better)
  }
  return values
}

/** From the samples themselves. `span` begins where a group does. */
async function gathered(
  reader: SampleReader,
  { aggregates, filter }: SeriesRequest,
  span: Span,
  groups: Groups,
): Promise<ReadonlyMap<number, Values>> {
  const values = new Map<number, Values>()
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

function valuesOf(aggregates: readonly Aggregate[], figures: Figures): Values {
  return aggregates.map((aggregate) => aggregate.of(figures))
}
