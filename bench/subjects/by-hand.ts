/** Hand-written parts around peers that only evaluate conditions: a table by resource, edges, cool-downs. */
import type { Clock } from '../events.ts'
import type { Limits, ThresholdWorkload } from '../workload.ts'

/** Takes the result of a rule's condition for an event, and acts as the workload requires. */
export type Outcome = (holds: boolean) => void

/** One per rule, since edges and cool-downs need memory. */
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

/** Package of bench/package.json. It is absent at type checking, so each peer declares its own interface. */
export async function peerPackage<Interface>(name: string): Promise<Interface> {
  return (await import(name)) as Interface
}
