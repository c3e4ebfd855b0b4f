/** The property that a rule does the same without subscribers. */
import { sameJson } from '#kernel'
import { firstDifference } from '../event-difference.ts'
import type { RuleProperty } from '../property.ts'

/**
 * Firings and the final state are the same with subscribers only to firings, as in a live engine: comparisons are then
 * looked up, by declarations of plugs (`steps`, `calculates`), instead of calls.
 */
export function columnarAsPlain(): RuleProperty {
  return {
    name: 'it does the same without subscribers',
    async check(run) {
      const { fired, saved } = await run.unheard()
      const difference = firstDifference(run.firings(), fired)
      if (difference !== undefined) return `without a listener it differs ${difference}`
      if (sameJson(saved, run.saved())) return undefined
      return 'without a listener the task ends in another state, although it fires the same'
    },
  }
}
