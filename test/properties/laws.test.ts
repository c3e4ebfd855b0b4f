import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EngineEvent, FiredEvent } from '../../src/core/engine/events.ts'
import type { Rule } from '../../src/core/rule/rule.ts'
import { coolDownOf, sensorsBehind } from '../../src/testing/rule-paths.ts'
import { ruleArbitrary } from '../support/arbitraries/rules.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { caseArbitrary } from '../support/arbitraries/scripts.ts'
import { gateTruth } from '../support/model/gate-truth.ts'
import { sensorsOf } from '../support/model/rule-reading.ts'
import { runEngine } from '../support/model/run-engine.ts'
import type { Script } from '../support/model/script.ts'
import { TEST_PLUGS } from '../support/model/test-plugs.ts'

const cases = caseArbitrary(ruleArbitrary({ asynchronous: true, pauses: true }))

/** Checks a law against the events of random runs. */
async function always(law: (events: readonly EngineEvent[], rule: Rule) => void, usual = 80): Promise<void> {
  await fc.assert(
    fc.asyncProperty(cases, async ({ rule, script }) => {
      law(await runEngine(rule, script), rule)
    }),
    runs(usual),
  )
}

const isFired = (event: EngineEvent): event is FiredEvent => event.type === 'fired'

function declared(rule: Rule, label: string): readonly string[] {
  const sensor = sensorsOf(rule).find((one) => one.label === label)
  return sensor ? (TEST_PLUGS[sensor.name]?.states ?? []) : ['TRUE', 'FALSE']
}

// Holds STEP-4
describe('a destination', () => {
  it('does not fire again before its cool-down has ended', () =>
    always((events, rule) => {
      const last = new Map<string, number>()
      for (const event of events) {
        if (event.type === 'started') last.clear()
        if (!isFired(event)) continue
        const since = event.time - (last.get(event.node) ?? -Infinity)
        expect(since).toBeGreaterThanOrEqual(coolDownOf(rule, event))
        last.set(event.node, event.time)
      }
    }))

  it('fires only after a result of a sensor behind its source, or a push, in the same invocation', () =>
    always((events, rule) => {
      for (const [i, event] of events.entries()) {
        if (!isFired(event) || event.why?.input.kind === 'push') continue
        const sensors = sensorsBehind(rule, event.source)
        const causes = events
          .slice(0, i)
          .filter((e) => e.type === 'result' && e.invocation === event.invocation && sensors.includes(e.node))
        expect(causes).not.toEqual([])
      }
    }))

  it('states in its why the input and the trigger that led to it', () =>
    always((events) => {
      for (const event of events.filter(isFired)) {
        expect(event.why?.trigger).toMatchObject({ source: event.source, destination: event.node })
        const begin = events.find((e) => e.invocation === event.invocation && (e.type === 'tick' || e.type === 'data'))
        const kinds = begin?.type === 'data' ? ['data'] : begin ? ['tick', 'ownTick', 'start'] : ['push', 'run']
        expect(kinds).toContain(event.why?.input.kind)
      }
    }))
})

describe('why', () => {
  it('names the sensors behind the source, and gates whose rows give their states', () =>
    always((events, rule) => {
      const needsAll = rule.task?.gatesNeedFullObservation === true
      for (const { source, time, why } of events.filter(isFired)) {
        expect(why?.sensors.map((sensor) => sensor.node)).toEqual(sensorsBehind(rule, source))
        const states = new Map([...(why?.sensors ?? []), ...(why?.gates ?? [])].map(({ node, state }) => [node, state]))
        for (const { node, state, row } of why?.gates ?? []) {
          const gate = rule.relations?.find((relation) => relation.label === node)
          expect(Object.keys(row)).toEqual(gate?.parentLabels)
          for (const [parent, seen] of Object.entries(row)) expect(seen).toBe(states.get(parent))
          const truth =
            gate &&
            gateTruth(
              gate,
              (label) => row[label] ?? null,
              (label) => declared(rule, label),
              needsAll,
            )
          // A gate is not evaluated before a node behind it was observed, even if it would always be TRUE.
          const wasAsked = Object.values(row).some((seen) => seen !== null)
          if (wasAsked || state !== null) expect(state).toBe(truth)
        }
        for (const sensor of why?.sensors ?? []) expect(sensor.since ?? time).toBeLessThanOrEqual(time)
        expect(why?.trigger.to ?? null).toBe(states.get(source) ?? null)
      }
    }))

  it('reports the whole chain of triggers from a node that no trigger ran', () =>
    always((events, rule) => {
      for (const { source, why } of events.filter(isFired)) {
        const destinations = (why?.via ?? []).map((step) => step.destination)
        const sources = [...(why?.via ?? []).map((step) => step.source), source]
        for (const [i, label] of destinations.entries())
          expect(sensorsBehind(rule, sources[i + 1] ?? '')).toContain(label)
        for (const step of why?.via ?? []) {
          const led = events
            .filter(isFired)
            .filter((event) => event.time === step.time && event.node === step.destination)
          expect(led.map((event) => event.source)).toContain(step.source)
        }
      }
    }))
})

// Holds STEP-2
describe('an effect', () => {
  it('has an id of its own', () =>
    always((events) => {
      const ids = events.filter(isFired).map((event) => event.effect)
      expect(new Set(ids).size).toBe(ids.length)
    }))
})

// Holds STEP-7
describe('a stopped task', () => {
  it('publishes nothing until it is started again', () =>
    always((events) => {
      const next = events.filter((_, i) => events[i - 1]?.type === 'stopped').map((event) => event.type)
      expect(next).toEqual(next.map(() => 'started'))
    }))
})

// Holds STEP-9
describe('time', () => {
  it('never decreases from one event to the next, except for late results of actuators', () =>
    always((events, { actuators = [] }) => {
      const acting = new Set(actuators.map(({ label }) => label))
      const times = events.flatMap(({ type, node = '', time }) => (type === 'result' && acting.has(node) ? [] : [time]))
      expect(times).toEqual(times.toSorted((a, b) => a - b))
    }))

  it("of an actuator's result is that of its firing, however late; the clock never goes back", () =>
    always((events, { actuators = [] }) => {
      const atOnce = actuators.filter((actuator) => actuator.pauseExecution !== true)
      const fired = new Map(atOnce.map(({ label }) => [label, new Set<number>()]))
      for (const event of events) {
        if (isFired(event)) fired.get(event.node)?.add(event.time)
        if (event.type !== 'result' || event.at === undefined || !event.ok) continue
        expect(event.at).toBeGreaterThan(event.time)
        if (fired.has(event.node)) expect(fired.get(event.node)).toContain(event.time)
      }
      const clock = events.map(({ time, at = time }) => at)
      expect(clock).toEqual(clock.toSorted((a, b) => a - b))
    }))
})

describe('an invocation', () => {
  it('has a higher number than all before, once for each tick or message', () =>
    always((events) => {
      const begins = events.filter((event, i) => {
        const goesOn = event.type === events[i - 1]?.type && event.invocation === events[i - 1]?.invocation
        return (event.type === 'tick' || event.type === 'data') && !goesOn
      })
      for (const begin of begins) {
        const before = events.slice(0, events.indexOf(begin)).map((event) => event.invocation)
        expect(begin.invocation).toBeGreaterThan(Math.max(-1, ...before))
      }
    }))
})

describe('a sensor', () => {
  it('changes from the state that it changed to, unless it was made unknown in between', () =>
    always((events) => {
      const states = new Map<string, string | null>()
      for (const event of events) {
        if (event.type === 'started') states.clear()
        if (event.type === 'evicted') states.set(event.node, null)
        if (event.type !== 'state') continue
        expect(event.from).not.toBe(event.to)
        if (event.from !== null) expect(event.from).toBe(states.get(event.node))
        states.set(event.node, event.to)
      }
    }))
})

// Holds STEP-3
describe('unknown is not false', () => {
  /** Sends one push per sensor to a rule that nothing else changes. */
  const pushes = (observed: readonly (readonly [string, string])[]): Script =>
    observed.map(([node, state]) => ({ at: 0, input: { kind: 'push', node, state } }))

  const lastGates = (events: readonly EngineEvent[]): Map<string, string | null> => {
    const gates = new Map<string, string | null>()
    for (const event of events) if (event.type === 'gate') gates.set(event.node, event.to)
    return gates
  }

  it('with fewer observations a gate is as it was, or unknown', async () => {
    const gated = ruleArbitrary()
      .filter((rule) => (rule.relations ?? []).length > 0)
      .map((rule): Rule => {
        const sensors = sensorsOf(rule).map(({ label, name }) => ({ label, name, tickTrigger: false }))
        const { gatesNeedFullObservation } = { gatesNeedFullObservation: false, ...rule.task }
        return { sensors, relations: rule.relations ?? [], task: { type: 'reactive', gatesNeedFullObservation } }
      })
    const seen = fc.array(fc.record({ n: fc.nat(9), kept: fc.boolean() }), { minLength: 6, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(gated, seen, async (rule, picks) => {
        const all = sensorsOf(rule).map((sensor, i) => {
          const states = TEST_PLUGS[sensor.name]?.states ?? []
          return [sensor.label, states[(picks[i]?.n ?? 0) % states.length] ?? ''] as const
        })
        const full = lastGates(await runEngine(rule, pushes(all)))
        const fewer = lastGates(await runEngine(rule, pushes(all.filter((_, i) => picks[i]?.kept))))
        for (const [gate, state] of fewer) if (state !== null) expect(state).toBe(full.get(gate))
      }),
      runs(150),
    )
  })
})
