/**
 * The peer json-rules-engine 7.3.1 in its best set-up: an engine per resource in a Map, so that rules of other
 * resources are not visited. Edges and cool-downs, which it lacks, are in its handlers.
 */
import type { Clock } from '../events.ts'
import type { Subject } from '../subject.ts'
import type { ChainWorkload, ThresholdWorkload } from '../workload.ts'
import { outcomeOf, peerPackage } from './by-hand.ts'

// Used part of the package's interface, which is absent at type checking.
interface Almanac {
  factValue(fact: string): Promise<number>
}
interface PeerRule {
  conditions: { all: readonly { fact: string; operator: string; value: number }[] }
  event: { type: string }
  onSuccess?: () => void
  onFailure?: () => void
}
interface PeerEngine {
  addRule(rule: PeerRule): PeerEngine
  addFact(name: string, value: (parameters: unknown, almanac: Almanac) => Promise<number>): PeerEngine
  run(facts: object): Promise<unknown>
}
type EngineClass = new () => PeerEngine

export const jsonRulesEngine: Subject = async (workload, clock) => {
  const { Engine } = await peerPackage<{ Engine: EngineClass }>('json-rules-engine')
  let firings = 0
  const act = () => {
    firings++
  }
  const engines =
    workload.kind === 'chain' ? chainEngines(Engine, workload, act) : thresholdEngines(Engine, workload, clock, act)
  return {
    handle: (event) => engines.get(event.resource)?.run(event),
    waits: true,
    fired: () => firings,
  }
}

function thresholdEngines(
  Engine: EngineClass,
  workload: ThresholdWorkload,
  clock: Clock,
  act: () => void,
): Map<string, PeerEngine> {
  const engines = new Map<string, PeerEngine>()
  for (const limits of workload.limits) {
    const engine = engines.get(limits.resource) ?? new Engine()
    engines.set(limits.resource, engine)
    const outcome = outcomeOf(workload, clock, act)
    engine.addRule({
      conditions: {
        all: [
          { fact: 'temperature', operator: 'greaterThan', value: limits.temperature },
          { fact: 'humidity', operator: 'greaterThan', value: limits.humidity },
        ],
      },
      event: { type: `${limits.resource} above ${limits.temperature} and ${limits.humidity}` },
      onSuccess: () => outcome(true),
      ...(workload.fires === 'edge' && { onFailure: () => outcome(false) }),
    })
  }
  return engines
}

function chainEngines(
  Engine: EngineClass,
  { resource, steps, limit }: ChainWorkload,
  act: () => void,
): Map<string, PeerEngine> {
  const engine = new Engine()
  steps.forEach(({ factor, offset }, i) => {
    const source = i === 0 ? 'temperature' : `value${i}`
    engine.addFact(`value${i + 1}`, async (_, almanac) => (await almanac.factValue(source)) * factor + offset)
  })
  engine.addRule({
    conditions: { all: [{ fact: `value${steps.length}`, operator: 'greaterThan', value: limit }] },
    event: { type: 'high' },
    onSuccess: act,
  })
  return new Map([[resource, engine]])
}
