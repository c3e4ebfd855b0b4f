/** The first difference between two runs that should be equal. */
import type { EngineEvent } from '#core'
import { instantText } from './moment-text.ts'

/** Epoch ms: exclusive start, inclusive end. */
export type Span = readonly [from: number, to: number]

const TIMES: ReadonlySet<string> = new Set(['time', 'at', 'until', 'since', 'scheduledAt', 'collectedTime'])
const LATE: ReadonlySet<string> = new Set(['at'])
const NONE: ReadonlySet<string> = new Set()

export interface Differing {
  /** events within them may happen later in the other run, and later ones may then differ */
  readonly spans?: readonly Span[]
  /** ignored differences: `late`, times of the clock; `times`, all times */
  readonly but?: 'late' | 'times'
}

/** `at 2025-03-03T06:00:00.000Z: ... instead of ...`; undefined for equal events. */
export function firstDifference(
  usual: readonly EngineEvent[],
  other: readonly EngineEvent[],
  { spans = [], but }: Differing = {},
): string | undefined {
  const ignored = but === undefined ? NONE : but === 'late' ? LATE : TIMES
  let isLate = false
  for (let i = 0; i < Math.max(usual.length, other.length); i++) {
    const [one, two] = [usual[i], other[i]]
    if (textOf(one, ignored) === textOf(two, ignored)) continue
    if (one !== undefined && spans.some(([from, to]) => one.time > from && one.time <= to)) {
      if (textOf(one, TIMES) === textOf(two, TIMES)) {
        isLate = true
        continue
      }
    } else if (isLate) return undefined
    const time = instantText(one?.time ?? two?.time ?? 0)
    return `at ${time}: ${shortText(two)} instead of ${shortText(one)}`
  }
  return undefined
}

function textOf(event: EngineEvent | undefined, ignored: ReadonlySet<string>): string | undefined {
  if (event === undefined || ignored.size === 0) return JSON.stringify(event)
  return JSON.stringify(event, (key, value: unknown) => (ignored.has(key) ? undefined : value))
}

function shortText(event: EngineEvent | undefined): string {
  if (event === undefined) return 'nothing'
  const { time: _time, task: _task, ...said } = event
  const text = JSON.stringify(said)
  return text.length > 200 ? `${text.slice(0, 197)}...` : text
}
