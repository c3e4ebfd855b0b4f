/** The property that firings follow a result of a sensor behind them. */
import { instantText } from '../moment-text.ts'
import type { RuleProperty } from '../property.ts'
import { sensorsBehind } from '../rule-paths.ts'
import { needsFiring } from './needs-firing.ts'

/** A destination fires only when a sensor behind its source has just had a result. */
export function noFiringWithoutCause(): RuleProperty {
  return {
    name: 'nothing fires without a cause',
    ...needsFiring(undefined),
    check({ rule, events }) {
      const heard = new Set<string>()
      let invocation = -1
      for (const event of events) {
        if (event.invocation !== invocation) heard.clear()
        invocation = event.invocation
        if (event.type === 'result') heard.add(event.node)
        if (event.type !== 'fired') continue
        const sensors = sensorsBehind(rule, event.source)
        if (sensors.some((sensor) => heard.has(sensor))) continue
        return `${event.node} fired at ${instantText(event.time)} because of ${event.source}, but ${sensors.join(', ')} had no result in that invocation`
      }
      return undefined
    },
  }
}
