/** Divides a range into groups of equal width or, with a zone, into calendar days or weeks (from Monday). */
import { beginOfPeriod, type GroupRun, lastAtOrBefore, periodOf, type PeriodUnit } from '#services/shared'
import { DAY, lengthText, widthOf, type Grouping } from './grouping.ts'
import type { ResolvedRange } from './series-request.ts'

export interface Groups {
  readonly labels: readonly number[]
  readonly end: number
  /** the groups as runs of equal width, which the storage aggregates itself */
  readonly runs: readonly GroupRun[]
  /** Returns the start of the group that contains an instant. Before the first group, returns any instant before it. */
  startOf(time: number): number
  readonly rest?: ResolvedRange & { readonly grouping: string }
}

export interface CutOptions {
  readonly range: ResolvedRange
  readonly grouping: Grouping
  readonly zone: string | undefined
  readonly descending: boolean
  /** maximum number of groups in the result; when descending, the last groups are kept */
  readonly limit: number
}

export function cutIntoGroups(options: CutOptions): Groups {
  const { zone, grouping } = options
  return zone === undefined || grouping === 'auto'
    ? cutEvenly(options)
    : cutByCalendar(options, zone, grouping === DAY ? A_DAY : A_WEEK)
}

function cutEvenly({ range, grouping, descending, limit }: CutOptions): Groups {
  const width = widthOf(grouping, range)
  const all = Math.ceil((range.until - range.from) / width)
  const count = Math.min(all, limit)
  const from = range.from + (descending ? all - count : 0) * width
  return {
    labels: Array.from({ length: count }, (_, k) => from + k * width),
    end: from + count * width,
    runs: [{ from, width, count }],
    // the remainder is exact, whereas a quotient may be rounded up
    startOf: (time) => time - ((time - range.from) % width),
    // the width is fixed here, because `auto` depends on the range
    ...restOf(range, descending, { from, end: from + count * width, isWhole: count === all }, lengthText(width)),
  }
}

const A_DAY: PeriodUnit = { unit: 'day', count: 1 }
const A_WEEK: PeriodUnit = { unit: 'week', count: 1 }

function cutByCalendar({ range, descending, limit }: CutOptions, zone: string, unit: PeriodUnit): Groups {
  const { from, until } = range
  const first = periodOf(from, zone, unit)
  const all = until > from ? periodOf(until - 1, zone, unit) - first + 1 : 0
  const count = Math.min(all, limit)
  const skipped = descending ? all - count : 0
  const startAt = (k: number): number => (k === 0 ? from : beginOfPeriod(first + k, zone, unit))
  const starts = Array.from({ length: count }, (_, k) => startAt(skipped + k))
  const end = count === all ? Math.max(until, beginOfPeriod(first + all, zone, unit)) : startAt(skipped + count)
  // a day that a zone skipped when it moved across the date line merges with the next day
  const labels = starts.filter((start, k) => start < (starts[k + 1] ?? end))
  return {
    labels,
    end,
    runs: runsOf(labels, end),
    startOf: (time) => labels[lastAtOrBefore(labels, time)] ?? Number.NEGATIVE_INFINITY,
    ...restOf(range, descending, { from: labels[0] ?? from, end, isWhole: count === all }, unit.unit),
  }
}

function restOf(
  range: ResolvedRange,
  descending: boolean,
  shown: { readonly from: number; readonly end: number; readonly isWhole: boolean },
  grouping: string,
): Pick<Groups, 'rest'> {
  if (shown.isWhole || shown.end <= shown.from) return {}
  return { rest: { ...range, ...(descending ? { until: shown.from } : { from: shown.end }), grouping } }
}

function runsOf(labels: readonly number[], end: number): readonly GroupRun[] {
  const runs: GroupRun[] = []
  for (const [k, from] of labels.entries()) {
    const width = (labels[k + 1] ?? end) - from
    const last = runs.at(-1)
    if (last?.width === width) runs[runs.length - 1] = { ...last, count: last.count + 1 }
    else runs.push({ from, width, count: 1 })
  }
  return runs
}
