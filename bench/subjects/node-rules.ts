/** node-rules: an engine per resource. What it lacks (edges, cool-downs) is done by hand. */
import type { BenchEvent } from '../events.ts'
import type { Subject } from '../subject.ts'
import type { ChainWorkload } from '../workload.ts'
import { outcomeOf, peerPackage, rulesByResource } from './by-hand.ts'

interface Flow {
  when(outcome: boolean): void
  next(): void
}
type Fact = BenchEvent & { value?: number }
interface RuleDefinition {
  condition: (flow: Flow, fact: Fact) => void
  consequence: (flow: Flow, fact: Fact) => void
}
interface RuleEngine {
  execute(fact: object, done: (fact: object) => void): void
}
interface Package {
  RuleEngine: new (rules: readonly RuleDefinition[], options: object) => RuleEngine
}

export const nodeRules: Subject = async (workload, clock) => {
  const library = await peerPackage<Package>('node-rules')
  let firings = 0
  const act = () => {
    firings++
  }
  const rules: ReadonlyMap<string, readonly RuleDefinition[]> =
    workload.kind === 'chain'
      ? new Map([[workload.resource, chainRules(workload, act)]])
      : rulesByResource(workload, ({ temperature, humidity }): RuleDefinition => {
          const outcome = outcomeOf(workload, clock, act)
          return {
            condition(flow, fact) {
              const holds = fact.temperature > temperature && fact.humidity > humidity
              if (!holds) outcome(false)
              flow.when(holds)
            },
            consequence(flow) {
              outcome(true)
              flow.next()
            },
          }
        })
  const engines = new Map<string, RuleEngine>()
  for (const [resource, list] of rules) {
    engines.set(resource, new library.RuleEngine(list, { ignoreFactChanges: true }))
  }
  return {
    handle: (event) =>
      new Promise<unknown>((resolve) => {
        const engine = engines.get(event.resource)
        if (engine === undefined) resolve(undefined)
        else engine.execute({ ...event }, resolve)
      }),
    waits: true,
    fired: () => firings,
  }
}

/** A rule per step, then one that judges. */
function chainRules({ steps, limit }: ChainWorkload, act: () => void): readonly RuleDefinition[] {
  return [
    ...steps.map(({ factor, offset }): RuleDefinition => {
      return {
        condition: (flow) => flow.when(true),
        consequence(flow, fact) {
          fact.value = (fact.value ?? fact.temperature) * factor + offset
          flow.next()
        },
      }
    }),
    {
      condition: (flow, fact) => flow.when((fact.value ?? 0) > limit),
      consequence(flow) {
        act()
        flow.next()
      },
    },
  ]
}
