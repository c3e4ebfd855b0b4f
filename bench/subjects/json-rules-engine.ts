/**
 * The peer json-rules-engine 7.3.1, set up as well as it can be: an engine per resource behind a Map, so that it
 * never looks at rules of other resources. What it lacks (edges, cool-downs) is done by hand in its handlers.
 */
import type { Clock } from '../events.ts'
import type { Subject } from '../subject.ts'
import type { ChainWorkload, Limits, ThresholdWorkload } from '../workload.ts'

// The part of the package's interface that is used here. The package is not there when the checkout is type-checked.
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

const PACKAGE: string = 'json-rules-engine'

export const jsonRulesEngine: Subject = async (workload, clock) => {
  const { Engine } = (await import(PACKAGE)) as { Engine: EngineClass }
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
    engine.addRule({
      conditions: {
        all: [
          { fact: 'temperature', operator: 'greaterThan', value: limits.temperature },
          { fact: 'humidity', operator: 'greaterThan', value: limits.humidity },
        ],
      } satisfies PeerRule['conditions'],
      event: { type: nameOf(limits) },
      ...(workload.fires === 'every' ? { onSuccess: act } : edgeHandlers(workload.coolDownMs, clock, act)),
    })
  }
  return engines
}

function nameOf({ resource, temperature, humidity }: Limits): string {
  return `${resource} above ${temperature} and ${humidity}`
}

function edgeHandlers(coolDownMs: number, clock: Clock, act: () => void) {
  let wasFalse = false
  let notBefore = 0
  return {
    onSuccess() {
      if (!wasFalse) return
      wasFalse = false
      if (clock.now < notBefore) return
      notBefore = clock.now + coolDownMs
      act()
    },
    onFailure() {
      wasFalse = true
    },
  }
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
