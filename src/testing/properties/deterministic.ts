/** The property that the same messages give the same events. */
import { firstDifference } from '../event-difference.ts'
import type { RuleProperty } from '../property.ts'

/**
 * The same case a second time gives the same events, to the byte. A plug that reads the machine's clock or draws chance
 * of its own is found by it, and so is one that remembers outside of its `internalState`.
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
