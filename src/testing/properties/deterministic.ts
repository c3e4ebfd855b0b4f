/** The property that equal messages lead to equal events. */
import { firstDifference } from '../event-difference.ts'
import type { RuleProperty } from '../property.ts'

/**
 * The same case a second time has the same events, to the byte. It finds plugs that read the machine's clock, have
 * randomness of their own, or remember outside of their `internalState`.
 */
export function deterministic(): RuleProperty {
  return {
    name: 'the same messages give the same events',
    async check(run) {
      const difference = firstDifference(run.events, (await run.again()).events)
      return difference === undefined ? undefined : `run again, it differs ${difference}`
    },
  }
}
