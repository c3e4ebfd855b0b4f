/** The property that cool-downs are kept. */
import { instantText, lengthText } from '../moment-text.ts'
import type { RuleProperty } from '../property.ts'
import { coolDownOf } from '../rule-paths.ts'
import { needsFiring } from './needs-firing.ts'

/** No destination fires again before the `invocationPolicy` of its trigger is over. */
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
