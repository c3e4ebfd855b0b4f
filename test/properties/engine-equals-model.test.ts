/**
 * Compares the engine with a naive model of a task (test/support/model/): both must produce the same events over random
 * rules and scripts, in every way of running. By default, 5,000 short cases and some with long waits.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/core/engine/api.ts'
import type { EngineEvent, EventType } from '../../src/core/engine/events.ts'
import type { Rule } from '../../src/core/rule/rule.ts'
import type { Task } from '../../src/index.ts'
import { type RuleOptions, ruleArbitrary } from '../support/arbitraries/rules.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { caseArbitrary, type ScriptOptions } from '../support/arbitraries/scripts.ts'
import { eventLines } from '../support/model/model-event.ts'
import { runEngine } from '../support/model/run-engine.ts'
import { runModel } from '../support/model/run-model.ts'
import { atTheirTimes, runSimulated } from '../support/model/run-simulated.ts'
import { type Script, SCRIPT_START } from '../support/model/script.ts'
import { TEST_PLUGS } from '../support/model/test-plugs.ts'

type Way = (rule: Rule, script: Script) => Promise<EngineEvent[]>

/** Compares texts first, which is fast; lists are compared only to show differences. */
async function bothAgree(rule: Rule, script: Script, way: Way, types?: readonly EventType[]): Promise<void> {
  const isCompared = ({ type }: { type: string }): boolean => types?.some((one) => one === type) ?? true
  const modelled = runModel(rule, {}, TEST_PLUGS, script, way === runSimulated)
  const expected = eventLines(modelled.filter(isCompared), rule, SCRIPT_START)
  const seen = eventLines(await way(rule, script), rule, SCRIPT_START)
  if (JSON.stringify(seen) !== JSON.stringify(expected)) expect(seen).toEqual(expected)
}

const SHORT: ScriptOptions = { maxLength: 7, longestGap: 5000 }

// Holds STEP-4, STEP-5, EVAL-1 to EVAL-3
describe('the engine acts like the naive model', () => {
  const kinds: [string, number, RuleOptions, ScriptOptions][] = [
    ['for plugs that answer at once', 3000, {}, SHORT],
    ['for plugs that answer later', 700, { asynchronous: true }, SHORT],
    ['for sensors that read other nodes', 300, { reads: true, asynchronous: true }, SHORT],
    ['for nodes that wait for a resume', 500, { asynchronous: true, pauses: true }, SHORT],
    ['over long waits', 60, { asynchronous: true, pauses: true }, {}],
  ]
  it.each(kinds)('%s', async (_, usual, options, scripts) => {
    await fc.assert(
      fc.asyncProperty(caseArbitrary(ruleArbitrary(options), scripts), ({ rule, script }) =>
        bothAgree(rule, script, runEngine),
      ),
      runs(usual),
    )
  })

  it('in a simulation', async () => {
    const cases = caseArbitrary(ruleArbitrary(), { ...SHORT, recordingOnly: true })
    await fc.assert(
      fc.asyncProperty(cases, ({ rule, script }) => bothAgree(rule, atTheirTimes(script), runSimulated)),
      runs(300),
    )
  })

  it('while only firings are listened to and tasks are rows', async () => {
    const types: readonly EventType[] = ['fired', 'held']
    const atEnd = (_: Task, engine: Engine): void => void (inRows += engine.stats().rows)
    let inRows = 0
    const cases = caseArbitrary(PLAIN_RULES, { maxLength: 18, longestGap: 5000, areEven: true, recordingOnly: true })
    await fc.assert(
      fc.asyncProperty(cases, ({ rule, script }) =>
        bothAgree(rule, script, (...of) => runEngine(...of, { types, looksAtLittle: true, atEnd }), types),
      ),
      runs(500),
    )
    expect(inRows).toBeGreaterThan(runs(250).numRuns)
  })
})

/** Generates rules whose tasks can be rows: one resource, and sensors without memory, clocks or waits. */
const PLAIN_RULES = ruleArbitrary({ plugs: ['level', 'level', 'band'] }).map((rule): Rule => {
  const { frequency: _, cron: _cron, pollingInterval: _interval, ...task } = rule.task ?? {}
  const actuators = rule.actuators?.map(({ label, name }) => ({ label, name })) ?? []
  const labels = new Set(actuators.map(({ label }) => label))
  return {
    ...rule,
    actuators,
    sensors:
      rule.sensors?.map(({ label, name, properties = {}, sequence = 1 }) => {
        return { label, name, properties, sequence, resource: 'r1' }
      }) ?? [],
    triggers:
      rule.triggers
        ?.filter(({ destinationLabel }) => labels.has(destinationLabel))
        .map((trigger, _, all) => {
          // one cool-down into an actuator
          const first = all.find(({ destinationLabel }) => destinationLabel === trigger.destinationLabel)
          const { invocationPolicy: __, ...rest } = trigger
          return first?.invocationPolicy === undefined ? rest : { ...rest, invocationPolicy: first.invocationPolicy }
        }) ?? [],
    // all sensors run before the actuators
    task: { ...task, type: 'reactive', parallel: true },
  }
})
