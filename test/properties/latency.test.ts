/**
 * Checks that a task's actions depend on its inputs, their times and its plugs' results, but not on latency: every run
 * must equal the run in which all results arrive at once.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { simulate, type Rule } from '../../src/index.ts'
import { latencyCases, type LatencyOptions } from '../support/arbitraries/latency-cases.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { CASE_START, type CaseStep, type LatencyCase } from '../support/latency/latency-case.ts'
import { laneLines, runCase, type Observed, type RunOptions } from '../support/latency/run-case.ts'
import { SlowPlugs, type Answers } from '../support/latency/slow-plugs.ts'

const atOnce = (given: LatencyCase, options?: RunOptions) => runCase(given, () => 'at once', options)
const promised = (given: LatencyCase, options?: RunOptions) => runCase(given, () => 'promised', options)
const slowly = (given: LatencyCase, options?: RunOptions) =>
  runCase(given, (clock) => ({ clock, latencies: given.latencies }), options)

/** Expects equal runs, in which all calls that may begin ahead were made. */
function expectSame(one: Observed, measure: Observed): void {
  const { events, answered, calls, attempts, state, broken, ahead } = one
  expect({ events, answered, calls, attempts, state, broken }).toEqual({
    events: measure.events,
    answered: measure.answered,
    calls: measure.calls,
    attempts: measure.attempts,
    state: measure.state,
    broken: [],
  })
  expect([...measure.ahead].filter((call) => !ahead.has(call))).toEqual([])
}

const unheard = (observed: Observed): Observed => ({ ...observed, events: [], answered: [] })

async function always(
  usual: number,
  law: (given: LatencyCase) => Promise<void>,
  options: LatencyOptions = {},
): Promise<void> {
  await fc.assert(fc.asyncProperty(latencyCases(options), law), runs(usual))
}

describe('a run in which every call returns at once', () => {
  it('is the same without subscribers', () =>
    always(100, async (given) =>
      expectSame(unheard(await atOnce(given, { listens: false })), unheard(await atOnce(given))),
    ))

  it('continues after crashes as if there had been none', () =>
    always(80, async (given) => expectSame(await atOnce(given, given), await atOnce(given))))

  it('equals the run in which results are settled promises', () =>
    always(100, async (given) => expectSame(await promised(given), await atOnce(given))))
})

// Holds STEP-8, LANE-1, LANE-2
describe('a run with slow calls', () => {
  it('equals the run in which calls return at once', () =>
    always(300, async (given) => expectSame(await slowly(given), await atOnce(given))))

  it('is the same without subscribers', () =>
    always(80, async (given) =>
      expectSame(unheard(await slowly(given, { listens: false })), unheard(await atOnce(given))),
    ))

  it('is the same through crashes: open calls are repeated', () =>
    always(250, async (given) => expectSame(await slowly(given, given), await atOnce(given))))

  it('is the same for nodes that wait for a resume, through crashes', () =>
    always(100, async (given) => expectSame(await slowly(given, given), await atOnce(given)), { pauses: true }))
})

// Holds AHEAD-1, AHEAD-2
describe('calls that depend on their message alone', () => {
  let most = 0

  it('begin ahead of their turn, and results do not differ', () =>
    always(
      150,
      async (given) => {
        const slow = await slowly(given)
        most = Math.max(most, slow.mostAhead)
        expectSame(slow, await atOnce(given))
      },
      { ahead: true },
    ))

  it('begin ahead of their turn, and results do not differ after crashes', () =>
    always(100, async (given) => expectSame(await slowly(given, given), await atOnce(given)), { ahead: true }))

  it('were open together meanwhile, at most 16 of a task', () => {
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(16)
  })
})

/** Keeps only single messages, which a recording can contain. */
function recorded(given: LatencyCase): LatencyCase {
  const steps = given.steps.flatMap(({ at, input }): CaseStep[] => {
    if (input.kind !== 'data') return []
    return input.messages.map((message) => ({ at, input: { kind: 'data', messages: [message] } }))
  })
  return { ...given, steps }
}

async function simulated({ rule, steps }: { rule: Rule; steps: readonly CaseStep[] }, answers: Answers) {
  const messages = steps.flatMap(({ input }) => (input.kind === 'data' ? input.messages : []))
  const until = CASE_START + 3 * 86_400_000
  return simulate(rule, { messages, plugs: new SlowPlugs(answers).plugs, from: CASE_START, until, seed: 1 })
}

describe('a simulation', () => {
  const turns = fc.array(fc.nat(6), { minLength: 2, maxLength: 5 })
  const cases = latencyCases().map(recorded)

  it('returns equal bytes of events, whichever sensor answers first', () =>
    fc.assert(
      fc.asyncProperty(cases, turns, async (given, latencies) => {
        const bytes = async (these: readonly number[]): Promise<string[]> => {
          const { events } = await simulated(given, { turns: these })
          return events.map((event) => JSON.stringify(event))
        }
        expect(await bytes(latencies.toReversed())).toEqual(await bytes(latencies))
      }),
      runs(70),
    ))

  it('does what the live task does, whichever actuator answers first', () =>
    fc.assert(
      fc.asyncProperty(cases, turns, async (given, latencies) => {
        const { events } = await simulated(given, { turns: latencies, ofActuators: true })
        const lines = laneLines(events, given.rule)
        expect(lines).toEqual((await slowly(given)).events)
        expect(lines).toEqual(laneLines((await simulated(given, 'at once')).events, given.rule))
      }),
      runs(70),
    ))
})
