/** What peers that only judge conditions are given around them: a table by resource, edges, cool-downs. */
import type { BenchEvent, Clock } from '../events.ts'
import type { Running } from '../subject.ts'
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
  { limits }: ThresholdWorkload,
  ruleOf: (limits: Limits) => Rule,
): ReadonlyMap<string, readonly Rule[]> {
  const rules = new Map<string, Rule[]>()
  for (const one of limits) {
    const list = rules.get(one.resource)
    if (list === undefined) rules.set(one.resource, [ruleOf(one)])
    else list.push(ruleOf(one))
  }
  return rules
}

/** Sends each event through all conditions of its resource. */
export function conditionsOnly(
  workload: ThresholdWorkload,
  clock: Clock,
  conditionOf: (limits: Limits) => (event: BenchEvent) => unknown,
): Running {
  let firings = 0
  const act = () => {
    firings++
  }
  const rules = rulesByResource(workload, (limits) => {
    return { condition: conditionOf(limits), outcome: outcomeOf(workload, clock, act) }
  })
  return {
    handle(event) {
      const list = rules.get(event.resource)
      if (list === undefined) return
      for (const { condition, outcome } of list) outcome(condition(event) === true)
    },
    waits: false,
    fired: () => firings,
  }
}

/** Sends an event's temperature through the steps of a chain. */
export function stepsOnly(
  { resource, limit }: { resource: string; limit: number },
  steps: readonly ((value: number) => unknown)[],
): Running {
  let firings = 0
  const chains = new Map([[resource, steps]])
  return {
    handle(event) {
      const chain = chains.get(event.resource)
      if (chain === undefined) return
      let value: unknown = event.temperature
      for (const step of chain) value = step(value as number)
      if ((value as number) > limit) firings++
    },
    waits: false,
    fired: () => firings,
  }
}

/** A package of bench/package.json. It is not there when the checkout is type-checked, so each peer says what it uses. */
export async function peerPackage<Interface>(name: string): Promise<Interface> {
  return (await import(name)) as Interface
}
