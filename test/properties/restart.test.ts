import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EngineEvent } from '../../src/core/engine/events.ts'
import { type RuleOptions, ruleArbitrary } from '../support/arbitraries/rules.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { caseArbitrary } from '../support/arbitraries/scripts.ts'
import { runEngine } from '../support/model/run-engine.ts'

const bytes = (events: readonly EngineEvent[]): string[] => events.map((event) => JSON.stringify(event))

describe('a restart changes nothing', () => {
  const kinds: [string, number, RuleOptions][] = [
    ['while results are held back', 120, {}],
    ['while calls are in flight and nodes pause', 120, { asynchronous: true, pauses: true }],
  ]

  it.each(kinds)('after every step, %s', async (_, usual, options) => {
    await fc.assert(
      fc.asyncProperty(caseArbitrary(ruleArbitrary(options)), async ({ rule, script }) => {
        const restarted = await runEngine(rule, script, { restartAfter: () => true })
        expect(bytes(restarted)).toEqual(bytes(await runEngine(rule, script)))
      }),
      runs(usual),
    )
  })

  it.each(kinds)('at any one point, %s', async (_, usual, options) => {
    await fc.assert(
      fc.asyncProperty(caseArbitrary(ruleArbitrary(options)), fc.nat(13), async ({ rule, script }, point) => {
        const restarted = await runEngine(rule, script, { restartAfter: (n) => n === (point % script.length) - 1 })
        expect(bytes(restarted)).toEqual(bytes(await runEngine(rule, script)))
      }),
      runs(usual),
    )
  })
})
