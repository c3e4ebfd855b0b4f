/** What peers that only judge conditions are given around them: a table by resource, edges, cool-downs. */
import type { Clock } from '../events.ts'
import type { Limits, ThresholdWorkload } from '../workload.ts'

/** Takes whether a rule's condition holds for an event, and acts when the workload says so. */
export type Outcome = (holds: boolean) => void

/** One for each rule, since edges and cool-downs have a memory. */
export function outcomeOf({ fires, coolDownMs }: ThresholdWorkload, clock: Clock, act: () => void): Outcome {
  if (fires === 'every') {
    return (holds) => {
      if (holds) act()
    }
  }
  let wasFalse = false
  let notBefore = 0
  return (holds) => {
    if (!holds) {
      wasFalse = true
    } else if (wasFalse) {
      wasFalse = false
      if (clock.now < notBefore) return
      notBefore = clock.now + coolDownMs
      act()
    }
  }
}

/** Rules behind a Map, so that no rule of another resource is looked at. */
export function rulesByResource<Rule>(
  limits: readonly Limits[],
  ruleOf: (limits: Limits, i: number) => Rule,
): ReadonlyMap<string, readonly Rule[]> {
  const rules = new Map<string, Rule[]>()
  for (const [i, one] of limits.entries()) {
    const list = rules.get(one.resource)
    if (list === undefined) rules.set(one.resource, [ruleOf(one, i)])
    else list.push(ruleOf(one, i))
  }
  return rules
}

/** A package of bench/package.json. It is not there when the checkout is type-checked, so each peer says what it uses. */
export async function peerPackage<Interface>(name: string): Promise<Interface> {
  return (await import(name)) as Interface
}
