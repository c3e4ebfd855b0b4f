/** Checks that a run without late or skewed readings equals the run of the same readings in time order. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EngineEvent } from '../../src/core/engine/events.ts'
import type { Rule, TaskSettings } from '../../src/core/rule/rule.ts'
import type { Task } from '../../src/index.ts'
import { ruleArbitrary } from '../support/arbitraries/rules.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { runEngine, type EngineRunOptions } from '../support/model/run-engine.ts'
import { runSimulated } from '../support/model/run-simulated.ts'
import { SCRIPT_START, type Script, type ScriptMessage } from '../support/model/script.ts'

/** A reading: its measurement (ms since the start), its delay, and its repetition. */
interface Reading {
  readonly time: number
  readonly delay: number
  readonly again: number | undefined
  readonly message: ScriptMessage
}

/** Longest delay. */
const DELAY = 2000
/** Both runs are compared at this time; later timers may still be open in one of them. */
const END = 60_000

const value = fc.option(fc.constantFrom(0, 4, 6, 11, 14), { nil: undefined })
const readings = fc
  .array(
    fc.record({
      gap: fc.oneof(
        { weight: 7, arbitrary: fc.integer({ min: 1, max: 2500 }) },
        { weight: 1, arbitrary: fc.constant(0) },
      ),
      isRound: fc.boolean(),
      resource: fc.constantFrom('r1', 'r1', 'r2'),
      x: value,
      y: value,
      delay: fc.nat(DELAY),
      again: fc.option(fc.nat(9000), { nil: undefined, freq: 3 }),
    }),
    { minLength: 2, maxLength: 14 },
  )
  .map((list) => {
    let time = 0
    return list.map(({ gap, isRound, resource, x, y, delay, again }): Reading => {
      time = isRound ? (Math.floor(time / 1000) + 1) * 1000 : time + gap
      const message = {
        resource,
        timestamp: SCRIPT_START + time,
        ...(x !== undefined && { x }),
        ...(y !== undefined && { y }),
      }
      return { time, delay, again, message }
    })
  })

/** Generates rules that depend only on data and timers. */
const rules = ruleArbitrary().map((rule): Rule => {
  const sensors = (rule.sensors ?? []).map(({ pollingPeriod: _p, schedule: _s, retryConfig: _r, ...sensor }) => sensor)
  return {
    ...rule,
    sensors,
    actuators: (rule.actuators ?? []).map(({ retryConfig: _r, ...actuator }) => actuator),
    task: { ...reset(rule.task), type: 'reactive', resource: 'r1' },
  }
})

function reset({ resetObservations, resetScope, parallel, gatesNeedFullObservation }: TaskSettings = {}): TaskSettings {
  return JSON.parse(
    JSON.stringify({ resetObservations, resetScope, parallel, gatesNeedFullObservation }),
  ) as TaskSettings
}

interface Seen {
  readonly log: readonly string[]
  readonly late: number
  readonly skewed: number
  readonly duplicate: number
  readonly dropped: number
}

interface Delivery {
  readonly at: number
  readonly message: ScriptMessage
}

function scriptOf(deliveries: readonly Delivery[]): Script {
  return [
    ...deliveries
      .toSorted((a, b) => a.at - b.at)
      .map(({ at, message }) => ({ at, input: { kind: 'data' as const, messages: [message] } })),
    { at: Math.max(...deliveries.map(({ at }) => at)) + 2 * END, input: { kind: 'wait' } },
  ]
}

/** Runs `simulate` on the readings in time order; readings with equal times keep their order. */
async function simulated(rule: Rule, deliveries: readonly Delivery[]): Promise<readonly string[]> {
  const ordered = deliveries
    .toSorted((a, b) => a.at - b.at)
    .map(({ message }) => ({ at: Number(message['timestamp']) - SCRIPT_START, message }))
  const events = await runSimulated(rule, scriptOf(ordered))
  return events.flatMap((event) => shown(event, false))
}

/** Runs a task on readings that arrive at their own times, ms since the start. */
async function seen(
  rule: Rule,
  deliveries: readonly Delivery[],
  options: Pick<EngineRunOptions, 'restartAfter'> = {},
  withClock = false,
): Promise<Seen> {
  const script = scriptOf(deliveries)
  const counts = { late: 0, skewed: 0, duplicate: 0, dropped: 0 }
  const atEnd = (task: Task): void => {
    const { late = 0, skewed = 0, duplicate = 0, dropped } = task.info().health
    Object.assign(counts, { late, skewed, duplicate, dropped })
  }
  const events = await runEngine(rule, script, { ...options, atEnd })
  return { log: events.flatMap((event) => shown(event, withClock)), ...counts }
}

function shown(event: EngineEvent, withClock: boolean): string[] {
  if (event.time > SCRIPT_START + END || event.type === 'log') return []
  const { at: _at, ...rest } = event as EngineEvent & { at?: number }
  return [JSON.stringify(withClock ? event : rest)]
}

const inOrder = (list: readonly Reading[], lag = 0) => list.map(({ time, message }) => ({ at: time + lag, message }))
const delayed = (list: readonly Reading[], lag = 0) =>
  list.map(({ time, delay, message }) => ({ at: time + lag + delay, message }))
const repeated = (list: readonly Reading[]) =>
  list.flatMap(({ time, delay, again, message }) =>
    again === undefined ? [] : [{ at: time + delay + again, message: structuredClone(message) }],
  )

describe('readings', () => {
  const ordering: TaskSettings = { late: { reorder: `${DELAY}ms` } }
  const inTime = (rule: Rule, more: TaskSettings): Rule => ({ ...rule, task: { ...rule.task, ...more } })
  const waits = fc.constantFrom<TaskSettings>({}, { late: { reorder: '300ms' } }, { late: { reorder: '1s' } })

  it('with equal delays have the same effect as in order', async () => {
    await fc.assert(
      fc.asyncProperty(rules, readings, fc.constantFrom(1, 500, 7_200_000), async (rule, list, lag) => {
        const live = await seen(rule, inOrder(list, lag))
        expect(live).toEqual(await seen(rule, inOrder(list)))
        expect(live).toMatchObject({ late: 0, skewed: 0 })
      }),
      runs(150),
    )
  })

  // Holds READING-3
  it('with any delays have the same effect as in order, when none was late or skewed', async () => {
    let exact = 0
    await fc.assert(
      fc.asyncProperty(rules, readings, fc.constantFrom(1, 5, 20), waits, async (rule, list, part, late) => {
        const deliveries = delayed(list.map((one) => ({ ...one, delay: Math.floor(one.delay / part) })))
        const live = await seen(inTime(rule, late), deliveries)
        if (live.late + live.skewed + live.dropped > 0) return
        exact++
        expect(live.log).toEqual(await simulated(rule, deliveries))
      }),
      runs(150),
    )
    expect(exact).toBeGreaterThan(0)
  })

  it('of an offline device, in one burst, have the same effect as in order', async () => {
    await fc.assert(
      fc.asyncProperty(rules, readings, async (rule, list) => {
        const burst = await seen(
          rule,
          list.map(({ message }) => ({ at: 7_200_000, message })),
        )
        expect(burst.log).toEqual(await simulated(rule, inOrder(list)))
        expect(burst).toMatchObject({ late: 0, skewed: 0 })
      }),
      runs(150),
    )
  })

  it('that are reordered have the same effect as in order, within the waiting time', async () => {
    await fc.assert(
      fc.asyncProperty(rules, readings, fc.constantFrom(0, 500, 7_200_000), async (rule, list, lag) => {
        const live = await seen(inTime(rule, ordering), delayed(list, lag))
        expect(live.log).toEqual(await simulated(rule, delayed(list)))
        expect(live).toMatchObject({ late: 0, skewed: 0, dropped: 0 })
      }),
      runs(150),
    )
  })

  it('that are reordered stay so across restarts and repetitions', async () => {
    await fc.assert(
      fc.asyncProperty(rules, readings, fc.nat(3), async (rule, list, every) => {
        const ordered = inTime(rule, ordering)
        const once = await seen(ordered, delayed(list), {}, true)
        const again = await seen(ordered, [...delayed(list), ...repeated(list)], {}, true)
        expect(again.log).toEqual(once.log)
        const restartAfter = (n: number): boolean => n % (every + 1) === 0
        const restarted = await seen(ordered, [...delayed(list), ...repeated(list)], { restartAfter }, true)
        expect(restarted.log).toEqual(again.log)
      }),
      runs(100),
    )
  })

  it('that are reordered stay so for a ticking task, which then ticks later', async () => {
    const clocks = fc.constantFrom<TaskSettings>(
      { type: 'periodic', frequency: 2300 },
      { type: 'periodic', frequency: 1000 },
    )
    await fc.assert(
      fc.asyncProperty(rules, readings, clocks, async (rule, list, clock) => {
        const live = await seen(inTime(rule, { ...ordering, ...clock }), delayed(list))
        expect(live.log).toEqual(await simulated(inTime(rule, clock), delayed(list)))
      }),
      runs(100),
    )
  })

  // Holds READING-2
  it('that are repeated at any time change nothing, nor do restarts', async () => {
    const known = fc.constantFrom<TaskSettings>({}, { late: 'take' })
    await fc.assert(
      fc.asyncProperty(rules, readings, fc.nat(3), known, async (given, list, every, settings) => {
        const rule = inTime(given, settings)
        const once = await seen(rule, delayed(list), {}, true)
        const again = await seen(rule, [...delayed(list), ...repeated(list)], {}, true)
        expect(again.log).toEqual(once.log)
        const restartAfter = (n: number): boolean => n % (every + 1) === 0
        const restarted = await seen(rule, [...delayed(list), ...repeated(list)], { restartAfter }, true)
        expect(restarted.log).toEqual(again.log)
      }),
      runs(150),
    )
  })

  it('that are late change nothing', async () => {
    await fc.assert(
      fc.asyncProperty(rules, readings, async (rule, list) => {
        const stale = list.map(({ time, message }) => ({
          at: time + 3 * DELAY,
          message: { ...message, timestamp: SCRIPT_START + time - 1, ...(message['x'] !== undefined && { x: 5 }) },
        }))
        // The first reading of a resource or value is never late.
        const sent = inOrder(list)
        const rest = await seen(rule, [...sent, ...stale], {}, true)
        if (rest.skewed > 0) return
        expect(rest.log).toEqual((await seen(rule, sent, {}, true)).log)
      }),
      runs(150),
    )
  })
})
