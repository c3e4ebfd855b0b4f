/** Tests clocks of the engine: ticks during work, edited schedules, and unsteady machine clocks. */
import { describe, expect, it } from 'vitest'
import type { TickEvent } from '../../../src/core/engine/events.ts'
import type { Sensor, TaskSettings } from '../../../src/core/rule/rule.ts'
import { createEngine } from '../../../src/index.ts'
import { JumpingClock } from '../../support/jumping-clock.ts'
import { live, promisesSettled, TASK_ID } from '../../support/live-engine.ts'
import { rule } from '../../support/rule-writing.ts'
import { LATER, ScriptedPlugs } from '../../support/scripted-plugs.ts'

const everySecond: TaskSettings = { type: 'periodic', frequency: 1000 }

// `held`: the node named when a tick is held back; `first`: the time of the first tick without work in progress
describe.each<[string, { held: string; first: number }, Partial<Sensor>, TaskSettings]>([
  ['a task', { held: TASK_ID, first: 0 }, {}, everySecond],
  ['a task by cron', { held: TASK_ID, first: 1000 }, {}, { type: 'scheduled', cron: '* * * * * ?' }],
  ['a sensor', { held: 's', first: 0 }, { pollingPeriod: 1000 }, { type: 'reactive' }],
  ['a sensor by cron', { held: 's', first: 1000 }, { schedule: '* * * * * ?' }, { type: 'reactive' }],
])('a tick of %s during an asynchronous call', (_, { held, first }, sensor, task) => {
  async function busy(overlap?: TaskSettings['overlap']) {
    const t = await live(
      rule({ sensors: { s: { name: 'switch', ...sensor } }, task: { ...task, ...(overlap && { overlap }) } }),
      { script: (plugs) => plugs.say('s', LATER) },
    )
    t.to(1000)
    t.clear()
    t.to(3000)
    const ticks = () => t.events.filter((event): event is TickEvent => event.type === 'tick')
    const due = () => ticks().map(({ time, scheduledAt, at = time }) => [scheduledAt, time, at])
    const heldBack = () =>
      t.events.flatMap((event) => (event.type === 'held' ? [[event.node, event.reason, event.time, event.at]] : []))
    const answer = async () => {
      t.plugs.settle('s', 'On')
      await promisesSettled()
    }
    return { ...t, due, heldBack, answer }
  }

  it('does nothing by default', async () => {
    const t = await busy()
    expect(t.heldBack()).toEqual([
      [held, 'overlap', first, 2000],
      [held, 'overlap', first, 3000],
    ])
    expect(t.plugs.openCalls('s')).toBe(1)
    await t.answer()
    t.to(4000)
    expect(t.plugs.openCalls('s')).toBe(1)
    expect(t.due().at(-1)).toEqual([4000, 4000, 4000])
  })

  it('waits with overlap queue, and reports when it was due, arrived and began', async () => {
    const t = await busy('queue')
    expect(t.due()).toEqual([])
    await t.answer()
    const second = first + 1000
    expect(t.due()).toEqual([[second, second, 3000]])
    expect(t.plugs.openCalls('s')).toBe(1)
    t.to(3500)
    while (t.plugs.openCalls('s') > 0) await t.answer()
    const later = [1000, 2000, 3000].filter((time) => time > second)
    expect(t.due().slice(1)).toEqual(later.map((time) => [time, time, 3500]))
    expect(t.plugs.callsOf('s').map(({ now }) => now)).toEqual([first, second, ...later])
    expect(t.heldBack()).toEqual([])
  })

  it('cancels earlier calls with cancelPrevious', async () => {
    const t = await busy('cancelPrevious')
    const signals = t.plugs.callsOf('s').map(({ context }) => context.signal.aborted)
    expect(signals.slice(0, -1)).toEqual(signals.slice(0, -1).map(() => true))
    expect(signals.length).toBeGreaterThan(2)
    expect(signals.at(-1)).toBe(false)
    expect(t.due()).toEqual([
      [2000, 2000, 2000],
      [3000, 3000, 3000],
    ])
  })
})

describe('a schedule that is edited', () => {
  it.each<[string, TaskSettings, readonly number[]]>([
    ['another cron', { type: 'scheduled', cron: '0/4 * * * * ?' }, [8, 12]],
    ['a period', { type: 'periodic', frequency: 3000 }, [5, 8, 11]],
    ['no clock at all', { type: 'reactive' }, []],
  ])('replaces the old schedule completely: %s', async (_, task, seconds) => {
    const sensors = { s: { name: 'switch', pollingPeriod: 1500 } }
    const t = await live(rule({ sensors, task: { type: 'scheduled', cron: '0/2 * * * * ?' } }))
    t.to(5000)
    t.clear()
    await t.engine.update(TASK_ID, rule({ sensors: { s: 'switch' }, task }))
    t.to(13_000)
    const ticks = t.events.filter((event): event is TickEvent => event.type === 'tick')
    expect(ticks.map(({ scheduledAt }) => scheduledAt / 1000)).toEqual(seconds)
    if (seconds.length === 0) expect(t.clock.nextAt()).toBeUndefined()
  })

  it('has at most one wake-up, and none when the task is stopped', async () => {
    const clock = new JumpingClock()
    const engine = createEngine({ plugs: new ScriptedPlugs().plugs, scheduler: clock, ids: () => TASK_ID, seed: 1 })
    const task = (frequency: number) => rule({ sensors: { s: 'switch' }, task: { type: 'periodic', frequency } })
    await engine.start(task(1000))
    for (const frequency of [500, 70_000, 3000]) {
      await engine.update(TASK_ID, task(frequency))
      clock.sleep(0)
      expect(clock.waiting).toBe(1)
    }
    await engine.stop(TASK_ID)
    expect(clock.waiting).toBe(0)
  })
})

it('a fleet of one template computes each occurrence once', async () => {
  const t = await live(rule({ sensors: { s: 'switch' }, task: { type: 'scheduled', cron: '0/10 * * * * ?' } }))
  const again = rule({ sensors: { s: 'switch' }, task: { type: 'scheduled', cron: '0/10 * * * * ?' } })
  for (let i = 0; i < 100; i++) await t.engine.start(again, { id: `t${i}` })
  t.clear()
  t.to(10_000)
  const ticks = t.events.filter((event) => event.type === 'tick')
  expect(ticks.map(({ task }) => task)).toEqual([TASK_ID, ...Array.from({ length: 100 }, (_, i) => `t${i}`)])
  expect(new Set(ticks.map(({ time }) => time))).toEqual(new Set([10_000]))
})
