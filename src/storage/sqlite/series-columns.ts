/** Reads the samples of one series in order of time, merged from chunks and unfolded samples. */
import { chunksWithin, smallChunks, smallColumns } from './chunks.ts'
import { between, ColumnsBuilder, inOrder, living, merged, NO_SAMPLES, type Columns } from './columns.ts'
import type { Database } from './database.ts'
import { CODE, EXPIRES, kindOfCode, SAMPLE, seriesOfCode, storedBlocks, TIME, VALUE } from './sample-block.ts'

/** A range of times, both ends included. */
export interface Span {
  readonly from: number
  readonly until: number
  readonly descending?: boolean
  /** epoch ms; samples that expire by then are left out */
  readonly now: number
}

/** Returns the unfolded samples of some series in a range; both ends are included. */
export function arrivedOf(
  db: Database,
  keys: ReadonlySet<number>,
  from: number,
  until: number,
): ReadonlyMap<number, Columns> {
  const builders = new Map<number, ColumnsBuilder>()
  if (keys.size === 0) return new Map()
  for (const block of storedBlocks(db)) {
    const { samples } = block
    for (let at = 0; at < samples.length; at += SAMPLE) {
      const time = samples[at + TIME] ?? 0
      if (time < from || time > until) continue
      const code = samples[at + CODE] ?? 0
      const series = seriesOfCode(code)
      if (!keys.has(series)) continue
      let builder = builders.get(series)
      if (builder === undefined) builders.set(series, (builder = new ColumnsBuilder()))
      const kind = kindOfCode(code)
      builder.put(time, kind, samples[at + VALUE] ?? 0, kind === 0 ? [] : block.words, samples[at + EXPIRES])
    }
  }
  return new Map([...builders].map(([series, builder]) => [series, inOrder(builder.columns())]))
}

/** Yields the samples in parts, each ascending and not empty. When `descending`, the parts come in reverse order. */
export function* columnsOf(
  db: Database,
  series: number,
  arrived: Columns = NO_SAMPLES,
  { from, until, descending = false, now }: Span,
): Generator<Columns> {
  // includes expired samples, since they hide older ones
  const newer = merged(smallColumns(db, smallChunks(db, series, from, until), from, until), arrived)
  const visible = (start: number, end: number, older = NO_SAMPLES): Columns =>
    living(merged(older, between(newer, start, end)), now)
  let [low, high] = [from, until]
  for (const chunk of chunksWithin(db, series, from, until, descending)) {
    const { first, last } = chunk
    const gap = descending ? visible(last + 1, high) : visible(low, first - 1)
    if (gap.times.length > 0) yield gap
    const [start, end] = [Math.max(first, from), Math.min(last, until)]
    const seen = visible(start, end, between(chunk.columns(db), start, end))
    if (seen.times.length > 0) yield seen
    if (descending) high = first - 1
    else low = last + 1
  }
  const rest = visible(low, high)
  if (rest.times.length > 0) yield rest
}
