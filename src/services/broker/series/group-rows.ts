/**
 * Groups of samples and what they come to: group k has the samples of [from + k * width, from + (k + 1) *
 * width), its label is where it starts, and every label below `until` has a row. A sample at `until` itself counts when
 * its group began before.
 *
 * Sums that storage has are asked there. What needs each sample goes through them in slices, one group in memory.
 */
import type { SampleValue } from '../../../storage/contract.ts'
import type { Aggregate } from './aggregates.ts'
import { type Figures, figuresOf, Gathering } from './figures.ts'
import { lengthText, widthOf } from './grouping.ts'
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
  const { range, grouping, limit, descending, aggregates } = request
  const width = widthOf(grouping, range)
  const all = Math.ceil((range.until - range.from) / width)
  const shown = Math.min(all, limit)
  if (shown === 0) return { rows: [] }
  const from = range.from + (descending ? all - shown : 0) * width
  const until = Math.min(from + shown * width - 1, range.until)
  const span = { resources: request.resources, metric: request.metric, from, until }
  const found = await valuesOfGroups(reader, request, span, width)
  const none: Values = aggregates.map(() => null)
  const rows = Array.from({ length: shown }, (_, k): Row => {
    const label = from + k * width
    return [label, ...(found.get(label) ?? none)]
  })
  if (descending) rows.reverse()
  if (shown === all) return { rows }
  const edge = range.from + (descending ? all - shown : shown) * width
  const rest = descending ? { ...range, until: edge } : { ...range, from: edge }
  // what `auto` means follows from the range
  return { rows, rest: { ...rest, grouping: lengthText(width) } }
}

/** By label, of those groups that have a sample. */
async function valuesOfGroups(
  reader: SampleReader,
  request: SeriesRequest,
  span: Span,
  width: number,
): Promise<ReadonlyMap<number, Values>> {
  const { aggregates, filter, range } = request
  const needs = new Set(aggregates.map((aggregate) => aggregate.needs))
  if (filter !== undefined || needs.has('ranks') || needs.has('change')) {
    // the first difference of a group is to a sample before it
    const since = needs.has('change') ? range.from : span.from
    return gathered(reader, request, { ...span, from: since }, width)
  }
  const values = new Map<number, Values>()
  const doubtful: number[] = []
  for (const bucket of await reader.buckets(span, width)) {
    const figures = figuresOf(bucket)
    values.set(bucket.start, valuesOf(aggregates, figures))
    if (figures.deviation === undefined) doubtful.push(bucket.start)
  }
  const [first, last = first] = [doubtful[0], doubtful.at(-1)]
  if (!needs.has('deviation') || first === undefined || last === undefined) return values
  const again = { ...span, from: first, until: Math.min(last + width - 1, span.until) }
  for (const [label, better] of await gathered(reader, request, again, width)) values.set(label, better)
  return values
}

/** From the samples themselves. `span` begins where a group does. */
async function gathered(
  reader: SampleReader,
  { aggregates, filter }: SeriesRequest,
  span: Span,
  width: number,
): Promise<ReadonlyMap<number, Values>> {
  const values = new Map<number, Values>()
  const ranked = aggregates.some(({ needs }) => needs === 'ranks')
  let group: Gathering | undefined
  let previous: number | undefined
  for await (const samples of reader.slices(span)) {
    for (const { time, value } of samples) {
      if (filter?.(value) === false) continue
      if (group === undefined || time >= group.start + width) {
        if (group !== undefined) values.set(group.start, valuesOf(aggregates, group))
        // the remainder is exact, where a quotient may be rounded up
        group = new Gathering(time - ((time - span.from) % width), value, ranked)
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
