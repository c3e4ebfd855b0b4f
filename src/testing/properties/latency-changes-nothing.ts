/** The property that it does not matter how long plugs take. */
import { firstDifferenceButLate } from '../event-difference.ts'
import type { RuleProperty } from '../property.ts'

const LONGEST_MS = 5000

/** When each answer of a plug comes up to five seconds late, by another length for each node, everything else is as before, `at` aside. */
export function latencyChangesNothing(): RuleProperty {
  return {
    name: 'latency changes nothing',
    async check(run) {
      const nodes = [...(run.rule.sensors ?? []), ...(run.rule.actuators ?? [])]
      const lengths = nodes.map(({ label }, i) => [label, 1 + (((run.seed ?? 1) * 31 + i * 977) % LONGEST_MS)] as const)
      const late = await run.again({}, { latency: Object.fromEntries(lengths) })
      const difference = firstDifferenceButLate(run.events, late.events)
      if (difference === undefined) return undefined
      const told = lengths.map(([label, ms]) => `${label} ${ms} ms`).join(', ')
      return `with late answers (${told}) it differs ${difference}`
    },
  }
}
