/**
 * zen: a decision table for the rules of each resource, hit policy collect, a row per rule; the chain as a decision of expression
 * nodes. It answers which rules hold; edges, cool-downs and actions are by hand. It computes on native threads.
 */
import type { Subject } from '../subject.ts'
import type { ChainWorkload, Limits } from '../workload.ts'
import { outcomeOf, peerPackage, rulesByResource, type Outcome } from './by-hand.ts'

interface Decision {
  evaluate(context: object): Promise<{ result: unknown }>
}
interface Package {
  ZenEngine: new () => { createDecision(content: object): Decision }
}
interface DecisionNode {
  id: string
  name: string
  type: string
  content: object
}
interface Judge {
  decision: Decision
  outcomes: readonly Outcome[]
}

export const zen: Subject = async (workload, clock) => {
  const { ZenEngine } = await peerPackage<Package>('@gorules/zen-engine')
  const engine = new ZenEngine()
  let firings = 0
  const act = () => {
    firings++
  }
  if (workload.kind === 'chain') {
    const decisions = new Map([[workload.resource, engine.createDecision(chainDecision(workload))]])
    return {
      async handle(event) {
        const answer = await decisions.get(event.resource)?.evaluate(event)
        if ((answer?.result as { value: number } | undefined)?.value === 1) act()
      },
      waits: true,
      fired: () => firings,
    }
  }
  const judges = new Map<string, Judge>()
  for (const [resource, limits] of rulesByResource(workload, (one) => one)) {
    judges.set(resource, {
      decision: engine.createDecision(tableDecision(limits)),
      outcomes: limits.map(() => outcomeOf(workload, clock, act)),
    })
  }
  return {
    async handle(event) {
      const judge = judges.get(event.resource)
      if (judge === undefined) return
      const { result } = await judge.decision.evaluate(event)
      const holding = new Set((result as readonly { rule: number }[]).map(({ rule }) => rule))
      for (const [i, outcome] of judge.outcomes.entries()) outcome(holding.has(i))
    },
    waits: true,
    fired: () => firings,
  }
}

function tableDecision(limits: readonly Limits[]): object {
  const content = {
    hitPolicy: 'collect',
    inputs: [
      { id: 'warm', name: 'Temperature', field: 'temperature' },
      { id: 'damp', name: 'Humidity', field: 'humidity' },
    ],
    outputs: [{ id: 'rule', name: 'Rule', field: 'rule' }],
    rules: limits.map(({ temperature, humidity }, i) => {
      return { _id: `r${i}`, warm: `> ${temperature}`, damp: `> ${humidity}`, rule: `${i}` }
    }),
  }
  return inARow([{ id: 'table', name: 'Rules', type: 'decisionTableNode', content }])
}

function chainDecision({ steps, limit }: ChainWorkload): object {
  const step = (i: number, value: string) => {
    const content = { expressions: [{ id: `e${i}`, key: 'value', value }] }
    return { id: `step${i}`, name: `Step ${i}`, type: 'expressionNode', content }
  }
  return inARow([
    ...steps.map(({ factor, offset }, i) =>
      step(i, `${i === 0 ? 'temperature' : 'value'} * ${factor} + ${offset < 0 ? `(${offset})` : offset}`),
    ),
    step(steps.length, `value > ${limit} ? 1 : 0`),
  ])
}

function inARow(between: readonly DecisionNode[]): object {
  const nodes = [
    { id: 'in', name: 'In', type: 'inputNode', content: {} },
    ...between,
    { id: 'out', name: 'Out', type: 'outputNode', content: {} },
  ]
  const edges = nodes.slice(1).map(({ id }, i) => {
    return { id: `to-${id}`, type: 'edge', sourceId: nodes[i]?.id, targetId: id }
  })
  return { nodes, edges }
}
