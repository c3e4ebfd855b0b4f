/** The range that a task's course shows, and the states of its nodes over that range. */
import { useEffect, useState } from 'preact/hooks'
import type { TaskEntity } from '#services/rules/contract'
import { now } from '../connection.ts'
import { past } from '../instant.ts'
import { type Band, bandsOf } from '../plot/bands.ts'
import { rehearse } from '../rehearse.ts'
import { query } from '../router.ts'
import { messageOf } from '../words/errors.ts'

const MINUTE = 60_000
const RANGES = { '15m': 15 * MINUTE, '1h': 60 * MINUTE, '6h': 360 * MINUTE, '24h': 1_440 * MINUTE } as const
type Range = keyof typeof RANGES
export const RANGE_NAMES = Object.keys(RANGES)
const MAX_EVENTS = 10_000
const REFRESH = 15_000

export interface Course {
  readonly bands: ReadonlyMap<string, readonly Band[]>
  readonly knownUntil: number
  readonly error?: string
}

export interface ShownRange {
  readonly name: string
  readonly from: number
  readonly until: number
  /** epoch ms of the newest data that is shown while live */
  readonly end: number
}

/** Ends now, and moves every few seconds; while the past is shown it stands still and includes that instant. */
export function useRange(): ShownRange {
  const asked = query.value.get('range') ?? '1h'
  const name: Range = asked in RANGES ? (asked as Range) : '1h'
  const length = RANGES[name]
  const { value: at } = past
  const [end, setEnd] = useState(now.value)
  useEffect(() => {
    if (at !== null) return undefined
    setEnd(now.value)
    const timer = setInterval(() => !document.hidden && setEnd(now.value), REFRESH)
    return () => clearInterval(timer)
  }, [at === null, name])
  const until = at !== null && at < end - length ? at + length / 10 : end
  return { name, from: until - length, until, end }
}

/** Computes the states over time by rehearsing the task over its stored data. */
export function useCourse(task: TaskEntity | undefined, from: number, until: number): Course | undefined {
  const [course, setCourse] = useState<Course | undefined>()
  // a live task is rehearsed again after a twentieth of the range
  const grain = (until - from) / 20
  const stepped = Math.ceil(until / grain) * grain
  useEffect(() => {
    if (task === undefined) return undefined
    const ending = new AbortController()
    const types = ['state', 'gate'] as const
    const request = {
      task: task.ID,
      source: { from: Math.round(stepped - (until - from) - grain), until: Math.round(stepped) },
      events: { types: [...types], limit: MAX_EVENTS },
    }
    rehearse(request, ending.signal).then(
      ({ events = [], coverage }) => {
        if (ending.signal.aborted) return
        const isCut = events.length >= MAX_EVENTS
        const knownUntil = isCut ? (events.at(-1)?.time ?? from) : Math.max(coverage?.until ?? until, until)
        setCourse({ bands: bandsOf(events, knownUntil), knownUntil })
      },
      (thrown: unknown) =>
        !ending.signal.aborted && setCourse({ bands: new Map(), knownUntil: until, error: messageOf(thrown) }),
    )
    return () => ending.abort()
  }, [task?.ID, task?.revision, Math.round(stepped), until - from])
  return course
}
