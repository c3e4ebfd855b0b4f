import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EngineEvent } from '../../src/core/engine/events.ts'
import { ruleArbitrary } from '../support/arbitraries/rules.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { caseArbitrary } from '../support/arbitraries/scripts.ts'
import { runEngine } from '../support/model/run-engine.ts'
import { atTheirTimes, runSimulated } from '../support/model/run-simulated.ts'

const bytes = (events: readonly EngineEvent[]): string[] => events.map((event) => JSON.stringify(event))

// Holds STEP-1
describe('equal inputs', () => {
  it('give equal bytes of events', async () => {
    const cases = caseArbitrary(ruleArbitrary({ asynchronous: true, pauses: true }))
    await fc.assert(
      fc.asyncProperty(cases, async ({ rule, script }) => {
        expect(bytes(await runEngine(rule, script))).toEqual(bytes(await runEngine(rule, script)))
      }),
      runs(80),
    )
  })

  it('give the same events with and without why, but for why itself', async () => {
    const cases = caseArbitrary(ruleArbitrary())
    const without = (event: EngineEvent): EngineEvent => {
      const { why: _, ...rest } = { why: undefined, ...event }
      return rest
    }
    await fc.assert(
      fc.asyncProperty(cases, async ({ rule, script }) => {
        const told = await runEngine(rule, script)
        expect(bytes(told.map(without))).toEqual(bytes(await runEngine(rule, script, { why: false })))
      }),
      runs(80),
    )
  })
})

describe('a task', () => {
  it('is not affected by another task', async () => {
    const cases = caseArbitrary(ruleArbitrary({ pauses: true }))
    await fc.assert(
      fc.asyncProperty(cases, ruleArbitrary(), async ({ rule, script }, beside) => {
        expect(bytes(await runEngine(rule, script, { beside }))).toEqual(bytes(await runEngine(rule, script)))
      }),
      runs(80),
    )
  })
})

describe('a recording', () => {
  it('returns the same events simulated and live', async () => {
    const cases = caseArbitrary(ruleArbitrary(), { recordingOnly: true })
    await fc.assert(
      fc.asyncProperty(cases, async ({ rule, script }) => {
        const live = atTheirTimes(script)
        expect(bytes(await runSimulated(rule, live))).toEqual(bytes(await runEngine(rule, live, { runsAtStart: true })))
      }),
      runs(120),
    )
  })
})
