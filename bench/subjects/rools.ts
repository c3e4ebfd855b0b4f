/** rools: a set of rules per resource. What it lacks (edges, cool-downs) is done by hand. */
import type { BenchEvent } from '../events.ts'
import type { Subject } from '../subject.ts'
import type { ChainWorkload } from '../workload.ts'
import { outcomeOf, peerPackage, rulesByResource } from './by-hand.ts'

type Facts = Record<string, unknown>
interface RuleDefinition {
  name: string
  when: (facts: Facts) => boolean
  then: (facts: Facts) => void
}
interface RuleSet {
  register(rules: readonly object[]): Promise<void>
  evaluate(facts: object): Promise<unknown>
}
interface Package {
  Rools: new (options: object) => RuleSet
  Rule: new (definition: RuleDefinition) => object
}

export const rools: Subject = async (workload, clock) => {
  const { default: library } = await peerPackage<{ default: Package }>('rools')
  let firings = 0
  const act = () => {
    firings++
  }
  const definitions: ReadonlyMap<string, readonly RuleDefinition[]> =
    workload.kind === 'chain'
      ? new Map([[workload.resource, chainRules(workload, act)]])
      : new Map(
          [
            ...rulesByResource(workload, ({ temperature, humidity }) => {
              const outcome = outcomeOf(workload, clock, act)
              const holds = (event: BenchEvent) => event.temperature > temperature && event.humidity > humidity
              const name = `above ${temperature} and ${humidity}`
              const met = (facts: Facts) => holds(facts as BenchEvent)
              if (workload.fires === 'every') return [{ name, when: met, then: () => outcome(true) }]
              return [
                { name: `${name} met`, when: met, then: () => outcome(true) },
                { name: `${name} unmet`, when: (facts: Facts) => !met(facts), then: () => outcome(false) },
              ]
            }),
          ].map(([resource, lists]) => [resource, lists.flat()]),
        )
  const sets = new Map<string, RuleSet>()
  for (const [resource, rules] of definitions) {
    const set = new library.Rools({ logging: { error: false, debug: false } })
    await set.register(rules.map((rule) => new library.Rule({ ...rule, when: distinct(rule) })))
    sets.set(resource, set)
  }
  return {
    handle: (event) => sets.get(event.resource)?.evaluate({ ...event }),
    waits: true,
    fired: () => firings,
  }
}

/** rools takes conditions of the same text for the same condition, whatever they enclose. */
function distinct({ name, when }: RuleDefinition): RuleDefinition['when'] {
  return Object.assign((facts: Facts) => when(facts), { toString: () => name })
}

/** Each step sets a fact that the next one waits for. */
function chainRules({ steps, limit }: ChainWorkload, act: () => void): readonly RuleDefinition[] {
  const factOf = (i: number) => (i === 0 ? 'temperature' : `value${i}`)
  const numberOf = (facts: Facts, i: number) => facts[factOf(i)] as number
  return [
    ...steps.map(({ factor, offset }, i): RuleDefinition => {
      return {
        name: factOf(i + 1),
        when: (facts) => facts[factOf(i)] !== undefined,
        then(facts) {
          facts[factOf(i + 1)] = numberOf(facts, i) * factor + offset
        },
      }
    }),
    { name: 'high', when: (facts) => numberOf(facts, steps.length) > limit, then: act },
  ]
}
