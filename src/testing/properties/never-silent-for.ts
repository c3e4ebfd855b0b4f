/** The property that a destination fires repeatedly while a condition holds. */
import type { Json } from '#kernel'
import { lengthOf } from '../length-of.ts'
import { instantText, lengthText } from '../moment-text.ts'
import { monitored, type RuleProperty } from '../property.ts'
import { conditionOf, type ConditionLike } from '../temporal/condition.ts'

export interface SilenceOptions {
  /** when silence counts, by messages and states; it holds from one moment until the next. Default: always */
  readonly while?: ConditionLike
  /** default: any firing ends the silence */
  readonly node?: string
}

/**
 * While the condition holds, a destination fires at least once in that time, which counts from the beginning of the
 * condition. Throws `VALIDATION` for an invalid duration.
 */
export function neverSilentFor(longest: number | string, options: SilenceOptions = {}): RuleProperty {
  const most = lengthOf(longest, 'neverSilentFor: the time')
  const { node } = options
  const condition = options.while === undefined ? undefined : conditionOf(options.while)
  const who = node ?? 'the rule'
  const silent = (since: number | null, until: number): string | undefined => {
    if (since === null || until - since <= most) return undefined
    return `${who} was silent from ${instantText(since)} for ${lengthText(until - since)}, longer than ${lengthText(most)}`
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
      name: `${who} is never silent for longer than ${lengthText(most)}${condition ? ' while its condition holds' : ''}`,
      durations: [most],
      labels: { sources: condition?.labels.sources ?? [], destinations: node === undefined ? [] : [node] },
    },
  )
}
