/** When a window applies: once, or by a recurrence rule in its zone. */
import { latestBefore, parseSchedule, type Schedule } from '#core/spi'
import { AppError, durationMs, type Issue, makeIssue, refuse } from '#kernel'
import type { WindowDocument } from './window-schema.ts'

/** Instants in epoch ms; `until` is exclusive. */
export interface Span {
  readonly from: number
  readonly until: number
}

export interface WindowTimes {
  /** Returns the latest span that contains an instant, merged with spans that follow without a gap. */
  at(instant: number): Span | undefined
  /** Returns the first span that begins after an instant. */
  next(after: number): Span | undefined
}

const MAX_JOINED = 100

/** Throws `VALIDATION` with all problems of the times. */
export function windowTimes(document: WindowDocument): WindowTimes {
  const { from, until = Infinity, rrule, duration } = document
  const problems: Issue[] = []
  if (until <= from) {
    const message = `the window ends at ${new Date(until).toISOString()}, not after its beginning at ${new Date(from).toISOString()}`
    problems.push(makeIssue('WINDOW', '/until', message, 'write a later time'))
  }
  const schedule = rrule === undefined ? undefined : scheduleOf(document, problems)
  if (problems.length > 0) throw refuse('the window', problems)
  if (schedule === undefined) {
    const span = { from, until }
    return {
      at: (instant) => (instant >= from && instant < until ? span : undefined),
      next: (after) => (from > after ? span : undefined),
    }
  }
  return recurringTimes(schedule, durationMs(duration ?? 'PT1H'), { from, until })
}

function recurringTimes(schedule: Schedule, length: number, { from, until }: Span): WindowTimes {
  const spanOf = (begin: number): Span => ({ from: begin, until: Math.min(begin + length, until) })
  const next = (after: number): Span | undefined => {
    const begin = schedule.next(Math.max(after, from - 1))
    return begin === null || begin >= until ? undefined : spanOf(begin)
  }
  return {
    next,
    at: (instant) => {
      const floor = Math.max(instant - length, from - 1)
      const begin = instant < from || instant >= until ? null : latestBefore(schedule, instant + 1, floor)
      if (begin === null || begin + length <= instant) return undefined
      let { from: last, until: end } = spanOf(begin)
      for (let joined = 0; joined < MAX_JOINED; joined++) {
        const follower = next(last)
        if (follower === undefined || follower.from > end) break
        last = follower.from
        end = Math.max(end, follower.until)
      }
      return { from: begin, until: end }
    },
  }
}

function scheduleOf({ rrule = '', zone, from }: WindowDocument, problems: Issue[]): Schedule | undefined {
  try {
    return parseSchedule({ type: 'scheduled', rrule, start: from, ...(zone !== undefined && { timeZone: zone }) })
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'SCHEDULE') throw error
    problems.push(...error.issues.map((issue) => ({ ...issue, path: issue.path === '/timeZone' ? '/zone' : '/rrule' })))
    return undefined
  }
}
