/** Local times of several sources as one ascending list. */
import { DAY_MS } from './civil.ts'
import type { IcalDate } from './ical-date.ts'
import type { LocalTimes } from './schedule.ts'

/** The times of all sources and the added ones, without the removed ones. A removed date takes its whole day. */
export function mergedTimes(
  sources: readonly LocalTimes[],
  added: readonly number[],
  removed: readonly IcalDate[],
): LocalTimes {
  const [only] = sources
  if (only && sources.length === 1 && added.length === 0 && removed.length === 0) return only
  const extra = added.toSorted((a, b) => a - b)
  const removedTimes = new Set(removed.filter(({ kind }) => kind !== 'date').map(({ local }) => local))
  const removedDays = new Set(
    removed.filter(({ kind }) => kind === 'date').map(({ local }) => Math.floor(local / DAY_MS)),
  )
  const earliest = (after: number): number | null => {
    let least = extra.find((time) => time > after) ?? null
    for (const source of sources) {
      const time = source.next(after)
      if (time !== null && (least === null || time < least)) least = time
    }
    return least
  }
  return {
    next(after) {
      let time = earliest(after)
      while (time !== null) {
        const day = Math.floor(time / DAY_MS)
        // A removed day is leapt as a whole: it may hold a time for each of its seconds.
        if (removedDays.has(day)) time = earliest((day + 1) * DAY_MS - 1)
        else if (removedTimes.has(time)) time = earliest(time)
        else return time
      }
      return null
    },
  }
}
