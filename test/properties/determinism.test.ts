import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EngineEvent } from '../../src/core/engine/events.ts'
import type { Rule } from '../../src/core/rule/rule.ts'
import { simulate } from '../../src/index.ts'
import { ruleArbitrary } from '../support/arbitraries/rules.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { caseArbitrary } from '../support/arbitraries/scripts.ts'
import { asPlugs, OpenCalls } from '../support/model/as-plugs.ts'
import { runEngine } from '../support/model/run-engine.ts'
import { type Script, SCRIPT_START, TASK_ID } from '../support/model/script.ts'

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
  it('does not notice that another one runs beside it', async () => {
    const cases = caseArbitrary(ruleArbitrary({ pauses: true }))
    await fc.assert(
      fc.asyncProperty(cases, ruleArbitrary(), async ({ rule, script }, beside) => {
        expect(bytes(await runEngine(rule, script, { beside }))).toEqual(bytes(await runEngine(rule, script)))
      }),
      runs(80),
    )
  })
})

const REST = 30_000

/** A script as a live engine gets it when each message comes at its own time, or at once when it is late. */
function atTheirTimes(script: Script): { live: Script; messages: { resource: string; timestamp: number }[] } {
  const messages = script.flatMap(({ input }) => (input.kind === 'data' ? input.messages : []))
  let at = 0
  const live: Script[number][] = messages.map((message) => {
    at = Math.max(at, Number(message['timestamp']) - SCRIPT_START)
    return { at, input: { kind: 'data', messages: [message] } }
  })
  return {
    live: [...live, { at: at + REST, input: { kind: 'wait' } }],
    messages: messages.map((message) => ({ ...message, timestamp: Number(message['timestamp']) })),
  }
}

async function simulated(rule: Rule, script: Script): Promise<readonly EngineEvent[]> {
  const { live, messages } = atTheirTimes(script)
  const until = SCRIPT_START + (live.at(-1)?.at ?? 0)
  const plugs = asPlugs(new OpenCalls())
  const run = await simulate(rule, { messages, plugs, from: SCRIPT_START, until, seed: 1 })
  return run.events
}

/** A simulation names its task itself, and ids of effects begin with that name. */
function underOneName(events: readonly EngineEvent[]): string[] {
  const renamed = events.map((event): EngineEvent => {
    const effect = event.type === 'fired' ? { effect: event.effect.replace(`${event.task}/`, `${TASK_ID}/`) } : {}
    // a tick of the task's own that is held back bears its name
    const node = event.node === event.task ? { node: TASK_ID } : {}
    return { ...event, task: TASK_ID, ...effect, ...node }
  })
  return bytes(renamed)
}

describe('a recording', () => {
  it('gives the same events simulated and live', async () => {
    const cases = caseArbitrary(ruleArbitrary(), { recordingOnly: true })
    await fc.assert(
      fc.asyncProperty(cases, async ({ rule, script }) => {
        const live = await runEngine(rule, atTheirTimes(script).live)
        expect(underOneName(await simulated(rule, script))).toEqual(underOneName(live))
      }),
      runs(120),
    )
  })
})
