/** Defines properties over the moments of a run: always, never, sometimes, leads to, until, once between. */
import type { Json } from '#kernel'
import type { Moment } from '../checked-run.ts'
import { lengthOf } from '../length-of.ts'
import { instantText, lengthText } from '../moment-text.ts'
import { monitored, type Need, type RuleProperty } from '../property.ts'
import { conditionOf, labelsOfAll, standing, type Condition, type ConditionLike } from './condition.ts'

/** Requires the condition at every moment. */
export function always(condition: ConditionLike): RuleProperty {
  return everyMoment(conditionOf(condition), true)
}

/** Requires that the condition is never true. */
export function never(condition: ConditionLike): RuleProperty {
  return everyMoment(conditionOf(condition), false)
}

/** Requires the condition at a moment of at least one run; otherwise the check fails. */
export function sometimes(like: ConditionLike): RuleProperty {
  const condition = conditionOf(like)
  return {
    name: `sometimes ${condition.text}`,
    labels: condition.labels,
    needs: [needOf(condition)],
    check: () => undefined,
  }
}

export interface WithinOptions {
  /** ms, ISO 8601, or short as in `10m`; default: until the end of the run */
  readonly within?: number | string
}

/** Requires that whenever `cause` is true, `effect` is true at that moment or a later one within `within`. */
export function leadsTo(cause: ConditionLike, effect: ConditionLike, { within }: WithinOptions = {}): RuleProperty {
  const [from, to] = [conditionOf(cause), conditionOf(effect)]
  const limit = within === undefined ? undefined : lengthOf(within, 'leadsTo: within')
  const name = `${from.text} leads to ${to.text}${limit === undefined ? '' : ` within ${lengthText(limit)}`}`
  /** memories of both conditions, and the moment from which the effect is awaited */
  type Memory = readonly [Json, Json, { readonly at: number; readonly how: string } | null]
  const late = (owed: Memory[2], until: number): string | undefined => {
    if (owed === null || until - owed.at <= (limit ?? Number.POSITIVE_INFINITY)) return undefined
    return `${from.text} at ${owed.how}; then not ${to.text} until ${instantText(until)}, ${lengthText(until - owed.at)} later`
  }
  return monitored<Memory>(
    {
      start: [from.start, to.start, null],
      next([first, second, owed], moment) {
        const [nextFirst, holds] = from.next(first, moment)
        const [nextSecond, happens] = to.next(second, moment)
        const wrong = late(owed, moment.time)
        let owes = owed
        if (holds) owes ??= { at: moment.time, how: standing(moment, [from, to]) }
        if (happens) owes = null
        return { memory: [nextFirst, nextSecond, owes], wrong }
      },
      end([, , owed], until) {
        if (limit === undefined && owed !== null)
          return `${from.text} at ${owed.how}; then not ${to.text} until the end, ${instantText(until)}`
        return late(owed, until)
      },
      decides: ([first, second, owed]) => [first, second, owed?.at],
    },
    {
      name,
      labels: labelsOfAll([from, to]),
      needs: [needOf(from)],
      durations: [...(limit === undefined ? [] : [limit]), ...(from.durations ?? []), ...(to.durations ?? [])],
    },
  )
}

/** Requires `kept` at every moment before `end` is first true. */
export function until(kept: ConditionLike, end: ConditionLike): RuleProperty {
  const [one, other] = [conditionOf(kept), conditionOf(end)]
  return monitored<readonly [Json, Json, boolean]>(
    {
      start: [one.start, other.start, false],
      next([first, second, over], moment) {
        const [nextFirst, holds] = one.next(first, moment)
        const [nextSecond, ends] = other.next(second, moment)
        const done = over || ends
        const wrong =
          done || holds ? undefined : `not ${one.text} before ${other.text}: ${standing(moment, [one, other])}`
        return { memory: [nextFirst, nextSecond, done], wrong }
      },
    },
    {
      name: `${one.text} until ${other.text}`,
      labels: labelsOfAll([one, other]),
      needs: [needOf(other)],
    },
  )
}

/** Requires that the condition is true at exactly one moment of some span. */
export function once(condition: ConditionLike): {
  /**
   * the span starts at a moment at which `first` is true and ends when `last` is true, both inclusive; it may start
   * again after that
   */
  between(first: ConditionLike, last: ConditionLike): RuleProperty
} {
  const what = conditionOf(condition)
  return {
    between(first, last) {
      const [opens, closes] = [conditionOf(first), conditionOf(last)]
      const all = [what, opens, closes]
      /** memories of the conditions and, during a span, its start and the number of occurrences */
      type Memory = readonly [Json, Json, Json, { readonly at: number; readonly times: number } | null]
      return monitored<Memory>(
        {
          start: [what.start, opens.start, closes.start, null],
          next([a, b, c, open], moment) {
            const [nextA, happens] = what.next(a, moment)
            const [nextB, begins] = opens.next(b, moment)
            const [nextC, ends] = closes.next(c, moment)
            let span = open
            if (begins && span === null) span = { at: moment.time, times: 0 }
            if (span !== null && happens) span = { ...span, times: span.times + 1 }
            const tooMany = span !== null && span.times > 1
            const tooFew = span !== null && ends && span.times === 0
            const wrong =
              span !== null && (tooMany || tooFew)
                ? `${what.text} ${tooMany ? 'twice' : 'never'} since ${opens.text} at ${instantText(span.at)}: ${standing(moment, all)}`
                : undefined
            return { memory: [nextA, nextB, nextC, ends ? null : span], wrong }
          },
          decides: ([a, b, c, open]) => [a, b, c, open?.times],
        },
        {
          name: `${what.text} once between ${opens.text} and ${closes.text}`,
          labels: labelsOfAll(all),
          needs: [needOf(opens)],
        },
      )
    },
  }
}

function everyMoment(condition: Condition, wanted: boolean): RuleProperty {
  return monitored<Json>(
    {
      start: condition.start,
      next(memory, moment) {
        const [next, holds] = condition.next(memory, moment)
        const wrong =
          holds === wanted ? undefined : `${wanted ? 'not ' : ''}${condition.text}: ${standing(moment, [condition])}`
        return { memory: next, wrong }
      },
    },
    {
      name: `${wanted ? 'always' : 'never'} ${condition.text}`,
      labels: condition.labels,
      durations: condition.durations ?? [],
    },
  )
}

function needOf(condition: Condition): Need {
  return {
    text: condition.text,
    met({ moments }) {
      let memory = condition.start
      return moments.some((moment: Moment) => {
        const [next, holds] = condition.next(memory, moment)
        memory = next
        return holds
      })
    },
  }
}
