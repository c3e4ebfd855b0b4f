/** Defines properties of firings: their causes, cool-downs, limits and silences. */
import { instantText, lengthText } from '../moment-text.ts'
import { type RuleProperty, monitored } from '../property.ts'
import { coolDownOf, sensorsBehind } from '../rule-paths.ts'
import { AppError, type Json } from '#kernel'
import { spanOf, lengthOf } from '../length-of.ts'
import { conditionOf, type ConditionLike } from '../temporal/condition.ts'

/** Requires that a destination does not fire again within its trigger's `invocationPolicy`. */
export function coolDownRespected(): RuleProperty {
  return {
    name: 'every cool-down is respected',
    ...needsFiring(undefined),
    check(run) {
      const last = new Map<string, number>()
      for (const firing of run.firings()) {
        const policy = coolDownOf(run.rule, firing)
        const before = last.get(firing.node)
        last.set(firing.node, firing.time)
        if (before === undefined || firing.time - before >= policy) continue
        return `${firing.node} fired at ${instantText(before)} and again ${lengthText(firing.time - before)} later; its cool-down is ${lengthText(policy)}`
      }
      return undefined
    },
  }
}

/** Requires that a destination fires only when a sensor behind its source has just finished. */
export function noFiringWithoutCause(): RuleProperty {
  return {
    name: 'nothing fires without a cause',
    ...needsFiring(undefined),
    check({ rule, events }) {
      const answered = new Set<string>()
      let invocation = -1
      for (const event of events) {
        if (event.invocation !== invocation) answered.clear()
        invocation = event.invocation
        if (event.type === 'result') answered.add(event.node)
        if (event.type !== 'fired') continue
        const sensors = sensorsBehind(rule, event.source)
        if (sensors.some((sensor) => answered.has(sensor))) continue
        return `${event.node} fired at ${instantText(event.time)} because of ${event.source}, but ${sensors.join(', ')} had no result in that invocation`
      }
      return undefined
    },
  }
}

export interface WindowOptions {
  /** ms, ISO 8601, or short as in `1h` */
  readonly within: number | string
  /** default: each destination separately */
  readonly node?: string
}

/**
 * Requires that a destination fires at most `most` times in any window of length `within`, whose end is exclusive.
 * Throws `VALIDATION` for an invalid count or duration.
 */
export function neverMoreThan(most: number, { within, node }: WindowOptions): RuleProperty {
  if (!Number.isInteger(most) || most < 0)
    throw new AppError('VALIDATION', `neverMoreThan(${most}): use a whole number of firings from 0`)
  const window = spanOf(within, 'neverMoreThan: within')
  return monitored<Readonly<Record<string, readonly number[]>>>(
    {
      start: {},
      next(memory, { fired }) {
        const times: Record<string, readonly number[]> = { ...memory }
        for (const { node: destination, time } of fired) {
          if (node !== undefined && destination !== node) continue
          const recent = [...(times[destination] ?? []).filter((earlier) => time - earlier < window), time]
          times[destination] = recent
          const [first] = recent
          if (recent.length <= most || first === undefined) continue
          const how = `${destination} fired ${recent.length} times from ${instantText(first)} to ${instantText(time)}`
          return { memory, wrong: `${how}, within ${lengthText(time - first)}` }
        }
        return { memory: times }
      },
    },
    {
      name: `${node ?? 'every destination'} fires at most ${most === 1 ? 'once' : `${most} times`} within ${lengthText(window)}`,
      durations: [window],
      ...(most > 0 && needsFiring(node)),
    },
  )
}

export interface SilenceOptions {
  /** when silence counts, from messages and states; holds from one moment until the next. Default: always */
  readonly while?: ConditionLike
  /** default: any firing ends the silence */
  readonly node?: string
}

/**
 * Requires at least one firing in each period of length `longest` while the condition holds, counted from when the
 * condition begins. Throws `VALIDATION` for an invalid duration.
 */
export function neverSilentFor(longest: number | string, options: SilenceOptions = {}): RuleProperty {
  const most = lengthOf(longest, 'neverSilentFor: the time')
  const { node } = options
  const condition = options.while === undefined ? undefined : conditionOf(options.while)
  const subject = node ?? 'the rule'
  const silent = (since: number | null, until: number): string | undefined => {
    if (since === null || until - since <= most) return undefined
    return `${subject} was silent from ${instantText(since)} for ${lengthText(until - since)}, longer than ${lengthText(most)}`
  }
  return monitored<readonly [condition: Json, since: number | null]>(
    {
      start: [condition?.start ?? null, null],
      next([memory, since], moment) {
        const wrong = silent(since, moment.time)
        const [next, holds] = condition?.next(memory, moment) ?? [null, true]
        const breaks = moment.fired.some((firing) => node === undefined || firing.node === node)
        const now = !holds ? null : breaks ? moment.time : (since ?? moment.time)
        return { memory: [next, now], wrong }
      },
      end: ([, since], until) => silent(since, until),
    },
    {
      name: `${subject} is never silent for longer than ${lengthText(most)}${condition ? ' while its condition holds' : ''}`,
      durations: [most],
      labels: { sources: condition?.labels.sources ?? [], destinations: node === undefined ? [] : [node] },
    },
  )
}

export function needsFiring(node: string | undefined): Pick<RuleProperty, 'labels' | 'needs'> {
  return {
    ...(node !== undefined && { labels: { destinations: [node] } }),
    needs: [{ text: `${node ?? 'something'} fires`, met: (run) => run.firings(node).length > 0 }],
  }
}
