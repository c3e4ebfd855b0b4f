/** Defines properties that run a case again under other circumstances. */
import { sameJson } from '#kernel'
import type { RuleProperty } from '../property.ts'
import type { EngineEvent } from '#core'
import { spanOf } from '../length-of.ts'
import { downSpans } from '../checked-run.ts'
import { instantText } from '../moment-text.ts'

/**
 * Requires the same firings and final state with subscribers only to firings, as in a live engine. Comparisons are then
 * looked up from plug declarations (`steps`, `calculates`) instead of calling the plugs.
 */
export function columnarAsPlain(): RuleProperty {
  return {
    name: 'the rule does the same without subscribers',
    async check(run) {
      const { fired, saved } = await run.unheard()
      const difference = firstDifference(run.firings(), fired)
      if (difference !== undefined) return `without a subscriber it differs ${difference}`
      if (sameJson(saved, run.saved())) return undefined
      return 'without a subscriber the task ends in another state, although it fires the same'
    },
  }
}

/**
 * Requires that repeating a case produces the same events, to the byte. Detects plugs that read the machine's clock,
 * use their own random numbers, or keep memory outside their `internalState`.
 */
export function deterministic(): RuleProperty {
  return {
    name: 'the same messages give the same events',
    async check(run) {
      const difference = firstDifference(run.events, (await run.again()).events)
      return difference === undefined ? undefined : `when repeated, it differs ${difference}`
    },
  }
}

const LONGEST_MS = 5000

/**
 * Delays each node's plug results by a different time of up to five seconds. Only event times, and the order in which
 * actuators finish, may differ.
 */
export function latencyChangesNothing(): RuleProperty {
  return {
    name: 'latency changes nothing',
    async check(run) {
      const { sensors = [], actuators = [] } = run.rule
      const lengths = [...sensors, ...actuators].map(
        ({ label }, i) => [label, 1 + (((run.seed ?? 1) * 31 + i * 977) % LONGEST_MS)] as const,
      )
      const late = await run.again({}, { latency: Object.fromEntries(lengths) })
      const acts = new Set(actuators.map(({ label }) => label))
      const [usual, other] = [partsOf(run.events, acts), partsOf(late.events, acts)]
      const difference =
        firstDifference(usual.inOrder, other.inOrder, { but: 'late' }) ??
        firstDifference(usual.answers, other.answers, { but: 'times' })
      if (difference === undefined) return undefined
      const delays = lengths.map(([label, ms]) => `${label} ${ms} ms`).join(', ')
      return `with late results (${delays}) it differs ${difference}`
    },
  }
}

/** Separates the results of actuators, which may come after later inputs. */
function partsOf(events: readonly EngineEvent[], acts: ReadonlySet<string>) {
  const isAnswer = ({ type, node }: EngineEvent): boolean =>
    (type === 'result' || type === 'log') && node !== undefined && acts.has(node)
  const sortKey = ({ invocation, node = '', type }: EngineEvent): string =>
    `${String(invocation).padStart(9, '0')} ${node} ${type}`
  const bySortKey = (a: EngineEvent, b: EngineEvent): number =>
    sortKey(a) < sortKey(b) ? -1 : sortKey(a) > sortKey(b) ? 1 : 0
  return {
    inOrder: events.filter((event) => !isAnswer(event)),
    answers: events.filter(isAnswer).sort(bySortKey),
  }
}

export interface RestartChoice {
  /**
   * range of downtimes, such as `0..3h`: streams contain silences of up to that length, during which the process
   * crashes. Timers due in that time then act late, so event times are not compared. Default: no time passes
   */
  readonly down?: string
  /** whether the process may also crash while plugs work on a message; default true */
  readonly inFlight?: boolean
}

/**
 * Requires that a process that crashes after any messages and continues from its saved state has the same events, to
 * the byte. With downtime, whatever was due then must still happen, but may happen later, and the effects of the delay
 * are not compared. A clock that skips missed ticks is allowed to differ.
 */
export function restartChangesNothing({ down, inFlight = true }: RestartChoice = {}): RuleProperty {
  const longest = down === undefined ? 0 : longestOf(down)
  return {
    name: 'a restart changes nothing',
    ...(longest > 0 && { durations: [Math.round(longest / 3), longest] }),
    async check(run) {
      const restarted = await run.restarted({ down: longest, inFlight })
      const spans = downSpans(run, longest)
      const difference = firstDifference(run.events, restarted.events, { spans })
      if (difference === undefined) return undefined
      return `when killed ${crashesText(run.crashes, longest > 0)} it differs ${difference}`
    },
  }
}

function longestOf(down: string): number {
  return spanOf(down.replace(/^\s*0\s*\.\.\s*/, ''), 'restartChangesNothing: down')
}

export function crashesText(crashes: readonly { after: number; inFlight: boolean }[], silent = false): string {
  const points = crashes.map(({ after, inFlight }) => `${after}${inFlight ? ' (calls in flight)' : ''}`)
  return `after message ${points.join(', ')}${silent ? ', for some of the silence that follows,' : ''}`
}

/** Exclusive start and inclusive end, epoch ms. */
type Span = readonly [from: number, to: number]

const TIMES: ReadonlySet<string> = new Set(['time', 'at', 'until', 'since', 'scheduledAt', 'collectedTime'])
const LATE: ReadonlySet<string> = new Set(['at'])
const NONE: ReadonlySet<string> = new Set()

interface Differing {
  /** events in these spans may happen later in the other run, and later events may then differ */
  readonly spans?: readonly Span[]
  /** differences to ignore: `late`, times of the clock; `times`, all times */
  readonly but?: 'late' | 'times'
}

/** Describes the first difference as `at 2025-03-03T06:00:00.000Z: ... instead of ...`; undefined for equal events. */
function firstDifference(
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
  const { time: _time, task: _task, ...fields } = event
  const text = JSON.stringify(fields)
  return text.length > 200 ? `${text.slice(0, 197)}...` : text
}
