import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PlugContext } from '../../src/core/plug/plug.ts'
import type { Rule } from '../../src/core/rule/rule.ts'
import type { Task } from '../../src/index.ts'
import { type RuleOptions, ruleArbitrary } from '../support/arbitraries/rules.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { caseArbitrary } from '../support/arbitraries/scripts.ts'
import { sensorsOf } from '../support/model/rule-reading.ts'
import { type EngineRunOptions, runEngine } from '../support/model/run-engine.ts'
import type { Script } from '../support/model/script.ts'
import type { Call } from '../support/model/test-plugs.ts'

/** Returns everything visible of a run: its events, and the final views and explanations of all nodes. */
async function seen(rule: Rule, script: Script, options: EngineRunOptions = {}): Promise<string[]> {
  const end: string[] = []
  const atEnd = (task: Task): void => {
    const gates = (rule.relations ?? []).map((gate) => gate.label)
    const runnable = [...sensorsOf(rule), ...(rule.actuators ?? [])].map((node) => node.label)
    for (const label of [...gates, ...runnable]) end.push(JSON.stringify([label, task.node(label)]))
    for (const label of runnable) end.push(JSON.stringify(task.explain(label)))
    end.push(JSON.stringify(task.info()))
  }
  const events = await runEngine(rule, script, { ...options, atEnd })
  return [...events.map((event) => JSON.stringify(event)), ...end]
}

/**
 * Returns all inputs of plugs, including random numbers. An actuator call repeated after a restart sees the current
 * task, but its properties were fixed when it fired.
 */
async function given(rule: Rule, script: Script, options: EngineRunOptions = {}): Promise<string[]> {
  const calls: string[] = []
  const onCall = (call: Call, context: PlugContext): void => {
    const { id, rawData, actuatorData, node } = context
    const { stream, internalState, ...firm } = call
    const isSensor = sensorsOf(rule).some(({ label }) => label === call.label)
    const seen = isSensor ? { stream, internalState, rawData, actuatorData, chance: context.random() } : {}
    calls.push(JSON.stringify({ ...firm, id, node, ...seen }))
  }
  await runEngine(rule, script, { ...options, onCall })
  return calls
}

// Holds STEP-6
describe('a restart changes nothing', () => {
  const kinds: [string, number, RuleOptions][] = [
    ['while results are held back', 60, {}],
    ['while sensors have not read what is new', 40, { reads: true, asynchronous: true }],
    ['while calls are in flight and nodes pause', 60, { asynchronous: true, pauses: true }],
  ]

  it.each(kinds)('after every step, %s', async (_, usual, options) => {
    await fc.assert(
      fc.asyncProperty(caseArbitrary(ruleArbitrary(options)), async ({ rule, script }) => {
        const restarted = await seen(rule, script, { restartAfter: () => true })
        expect(restarted).toEqual(await seen(rule, script))
      }),
      runs(usual),
    )
  })

  it('in the inputs of plugs', async () => {
    await fc.assert(
      fc.asyncProperty(caseArbitrary(ruleArbitrary()), async ({ rule, script }) => {
        const restarted = await given(rule, script, { restartAfter: () => true })
        expect(restarted).toEqual(await given(rule, script))
      }),
      runs(80),
    )
  })

  it.each(kinds)('at any one point, %s', async (_, usual, options) => {
    await fc.assert(
      fc.asyncProperty(caseArbitrary(ruleArbitrary(options)), fc.nat(13), async ({ rule, script }, point) => {
        const restarted = await seen(rule, script, { restartAfter: (n) => n === (point % script.length) - 1 })
        expect(restarted).toEqual(await seen(rule, script))
      }),
      runs(usual),
    )
  })
})
