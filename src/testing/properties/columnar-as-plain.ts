/** The property that a rule does the same while nobody listens. */
import { sameJson } from '#kernel'
import { firstDifference } from '../event-difference.ts'
import type { RuleProperty } from '../property.ts'

/**
 * Firings and the state at the end are the same when nobody listens to anything but firings, as it is live: comparisons
 * are then looked up, by what plugs say of themselves (`steps`, `calculates`), instead of being called.
 */
export function columnarAsPlain(): RuleProperty {
  return {
    name: 'it does the same while nobody listens',
    async check(run) {
      const { fired, saved } = await run.unheard()
      const difference = firstDifference(run.firings(), fired)
      if (difference !== undefined) return `without a listener it differs ${difference}`
      if (sameJson(saved, run.saved())) return undefined
      return 'without a listener the task ends in another state, although it fires the same'
    },
  }
}
