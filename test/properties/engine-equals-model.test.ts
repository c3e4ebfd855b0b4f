import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Rule } from '../../src/core/rule/rule.ts'
import { type RuleOptions, ruleArbitrary } from '../support/arbitraries/rules.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { caseArbitrary } from '../support/arbitraries/scripts.ts'
import { eventLines } from '../support/model/model-event.ts'
import { runEngine } from '../support/model/run-engine.ts'
import { runModel } from '../support/model/run-model.ts'
import { type Script, SCRIPT_START } from '../support/model/script.ts'
import { TEST_PLUGS } from '../support/model/test-plugs.ts'

async function bothAgree(rule: Rule, script: Script): Promise<void> {
  const expected = eventLines(runModel(rule, {}, TEST_PLUGS, script), rule, SCRIPT_START)
  expect(eventLines(await runEngine(rule, script), rule, SCRIPT_START)).toEqual(expected)
}

describe('the engine does what the naive model says', () => {
  const kinds: [string, number, RuleOptions][] = [
    ['for plugs that answer at once', 200, {}],
    ['for plugs that answer later', 100, { asynchronous: true }],
    ['for sensors that read other nodes', 120, { reads: true, asynchronous: true }],
    ['for nodes that wait for a resume', 80, { asynchronous: true, pauses: true }],
  ]
  it.each(kinds)('%s', async (_, usual, options) => {
    const cases = caseArbitrary(ruleArbitrary(options))
    await fc.assert(
      fc.asyncProperty(cases, ({ rule, script }) => bothAgree(rule, script)),
      runs(usual),
    )
  })
})
