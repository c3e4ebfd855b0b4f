import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Rule } from '../../src/core/rule/rule.ts'
import type { Explanation } from '../../src/index.ts'
import { ruleArbitrary } from '../support/arbitraries/rules.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { gateTruth } from '../support/model/gate-truth.ts'
import { sensorsOf } from '../support/model/rule-reading.ts'
import { runEngine } from '../support/model/run-engine.ts'
import type { Script } from '../support/model/script.ts'
import { TEST_PLUGS } from '../support/model/test-plugs.ts'

type States = ReadonlyMap<string, string>

/** Generates sensors that only pushes change, gates over them, and one actuator that waits for states. */
const rules = ruleArbitrary()
  .map((rule): Rule => {
    const sensors = sensorsOf(rule).slice(0, 4)
    const labels = new Set(sensors.map((sensor) => sensor.label))
    const relations = (rule.relations ?? []).toSorted((a, b) => a.label.localeCompare(b.label))
    const kept = relations.filter((gate) => {
      const whole = gate.parentLabels.every((label) => labels.has(label))
      if (whole) labels.add(gate.label)
      return whole
    })
    const triggers = (rule.triggers ?? []).filter((trigger) => labels.has(trigger.sourceLabel))
    return {
      sensors: sensors.map(({ label, name }) => ({ label, name, tickTrigger: false })),
      actuators: [{ label: 'act', name: 'act' }],
      relations: kept,
      triggers: triggers.flatMap(({ sourceLabel, statesTrigger }) =>
        statesTrigger?.length ? [{ sourceLabel, statesTrigger, destinationLabel: 'act' }] : [],
      ),
      task: { type: 'reactive', ...(rule.task?.gatesNeedFullObservation ? { gatesNeedFullObservation: true } : {}) },
    }
  })
  .filter((rule) => (rule.triggers ?? []).length > 0)

const statesOf = (rule: Rule, label: string): readonly string[] => {
  const sensor = sensorsOf(rule).find((one) => one.label === label)
  return sensor ? (TEST_PLUGS[sensor.name]?.states ?? []) : ['TRUE', 'FALSE']
}

function stateOf(rule: Rule, label: string, states: States): string | null {
  const gate = rule.relations?.find((relation) => relation.label === label)
  if (!gate) return states.get(label) ?? null
  const needsAll = rule.task?.gatesNeedFullObservation === true
  return gateTruth(
    gate,
    (parent) => stateOf(rule, parent, states),
    (parent) => statesOf(rule, parent),
    needsAll,
  )
}

/** Returns all other combinations of sensor states, those with few changes first. */
function changes(rule: Rule, states: States): States[] {
  let ways: [string, string][][] = [[]]
  for (const { label } of sensorsOf(rule)) {
    const others = statesOf(rule, label).filter((state) => state !== states.get(label))
    ways = ways.flatMap((way) => [way, ...others.map((state): [string, string][] => [...way, [label, state]])])
  }
  return ways.toSorted((a, b) => a.length - b.length).map((way) => new Map(way))
}

describe('what an explanation says is needed', () => {
  it('fires the trigger in each listed way, and in no smaller or unlisted way', async () => {
    const observations = fc.array(fc.record({ n: fc.nat(9), seen: fc.boolean() }), { minLength: 4, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(rules, observations, async (rule, picks) => {
        const states = new Map(
          sensorsOf(rule).flatMap(({ label }, i): [string, string][] => {
            const declared = statesOf(rule, label)
            return picks[i]?.seen ? [[label, declared[picks[i].n % declared.length] ?? '']] : []
          }),
        )
        const script: Script = [...states].map(([node, state]) => ({ at: 0, input: { kind: 'push', node, state } }))
        const explanations: Explanation[] = []
        await runEngine(rule, script, { atEnd: (task) => explanations.push(task.explain('act')) })
        const told = explanations.flatMap((explanation) => explanation.triggers)
        for (const [i, trigger] of (rule.triggers ?? []).entries()) {
          const fires = (change: States): boolean => {
            const state = stateOf(rule, trigger.sourceLabel, new Map([...states, ...change]))
            return state !== null && (trigger.statesTrigger ?? []).includes(state)
          }
          const needs = told[i]?.needs ?? undefined
          const firing = changes(rule, states).filter(fires)
          const smallest = firing.filter(({ size }) => size === firing[0]?.size)
          expect(needs?.length).toBe(smallest[0]?.size)
          const { ways = [], waysLeftOut = 0 } = told[i] ?? {}
          expect(ways.length + waysLeftOut).toBe(smallest[0]?.size === 0 ? 0 : smallest.length)
          for (const { states: way } of ways)
            expect(fires(new Map(way.map(({ node, state }) => [node, state])))).toBe(true)
        }
      }),
      runs(150),
    )
  })
})
