import { describe, expect, it } from 'vitest'
import type { Sensor, TaskSettings } from '../../../src/core/rule/rule.ts'
import { createEngine } from '../../../src/index.ts'
import { JumpingClock } from '../../support/jumping-clock.ts'
import { line, live, promisesSettled, TASK_ID, type Live } from '../../support/live-engine.ts'
import { on, rule, trigger } from '../../support/rule-writing.ts'
import { LATER, ScriptedPlugs, type Said } from '../../support/scripted-plugs.ts'

const EVERY_SECOND: TaskSettings = { type: 'periodic', frequency: 1000 }

function ticking(task: TaskSettings, said: Said, more: Partial<Sensor> = {}) {
  return live(rule({ sensors: { s: { name: 'switch', ...more } }, task }), {
    script: (plugs) => plugs.say('s', said),
  })
}

const callTimes = (t: { plugs: ScriptedPlugs }, node = 's') => t.plugs.callsOf(node).map(({ now }) => now)

describe('the tick of a task', () => {
  it('reports when it was due', async () => {
    const t = await ticking(EVERY_SECOND, 'On')
    t.to(1000)
    expect(t.events.filter((event) => event.type === 'tick').map(({ scheduledAt }) => scheduledAt)).toEqual([0, 1000])
  })
})

/** Advances the clock to each of the times, and answers the oldest open call of `s` at that time. */
async function answeredAt(t: Live, ...times: readonly number[]): Promise<void> {
  for (const time of times) {
    await t.wait(time)
    t.plugs.settle('s', 'On')
    await promisesSettled()
  }
}

/** Executed ticks: when they were processed, when they were due, and the clock. */
function ran(t: Live) {
  return t.events.flatMap((event) =>
    event.type === 'tick' ? [{ time: event.time, scheduledAt: event.scheduledAt, at: event.at ?? event.time }] : [],
  )
}

/** Held ticks, each with the clock. */
function heldAt(t: Live): string[] {
  const held = t.events.filter(({ type }) => type === 'held')
  return held.map((event) => `${line(event)} at ${event.at ?? event.time}`)
}

// Holds CLOCK-3
describe('a tick during the work of the previous one', () => {
  it.each(['skip', 'queue', 'cancelPrevious'] as const)(
    'waits with overlap %s while other work is running',
    async (overlap) => {
      const t = await live(
        rule({ sensors: { s: on('late'), p: 'switch' }, task: { ...EVERY_SECOND, overlap, frequency: 2000 } }),
      )
      await answeredAt(t, 500)
      await t.wait(1500)
      t.send({})
      await answeredAt(t, 3000, 3500)
      expect(ran(t)).toEqual([
        { time: 0, scheduledAt: 0, at: 0 },
        { time: 2000, scheduledAt: 2000, at: 3000 },
      ])
      expect(callTimes(t)).toEqual([0, 1500, 2000])
      expect(callTimes(t, 'p')).toEqual([0, 2000])
      expect(heldAt(t)).toEqual([])
    },
  )

  it('is dropped with reason queue when a hundred wait already', async () => {
    const t = await ticking({ ...EVERY_SECOND, overlap: 'queue' }, LATER, { timeout: 'PT1H' })
    t.to(102_000)
    expect(heldAt(t)).toEqual(['0 held t queue at 101000', '0 held t queue at 102000'])
    expect(t.task.info().waiting?.inputs).toBe(100)
  })

  it('that cancels earlier work also drops the later stages of that work', async () => {
    const t = await live(
      rule({
        sensors: { a: 'late', b: { name: 'switch', sequence: 2 } },
        task: { ...EVERY_SECOND, overlap: 'cancelPrevious' },
      }),
    )
    t.to(2500)
    expect(callTimes(t, 'a')).toEqual([0, 1000, 2000])
    expect(callTimes(t, 'b')).toEqual([])
  })
})

describe('a fixed delay', () => {
  const slow: Said = { state: 'On', after: 300 }

  it('of a task counts from the end of the work of the last tick', async () => {
    const t = await ticking({ ...EVERY_SECOND, pollingFixedRate: false }, slow)
    t.to(4000)
    expect(callTimes(t)).toEqual([0, 1300, 2600, 3900])
  })

  it('counts on the clock when a plug answers late', async () => {
    const t = await ticking({ ...EVERY_SECOND, pollingFixedRate: false }, LATER)
    await answeredAt(t, 300, 1600)
    expect(callTimes(t)).toEqual([0, 1300])
    await t.wait(2599)
    expect(callTimes(t)).toEqual([0, 1300])
    await t.wait(2600)
    expect(callTimes(t)).toEqual([0, 1300, 2600])
    expect(ran(t).map(({ at }) => at)).toEqual([0, 1300, 2600])
  })

  it('of a task waits for the cascades of the tick as well', async () => {
    const t = await live(
      rule({
        sensors: { s: 'switch', d: 'switch' },
        triggers: [trigger('s', 'd')],
        task: { ...EVERY_SECOND, pollingFixedRate: false },
      }),
      { script: (plugs) => plugs.say('d', { state: 'On', after: 700 }) },
    )
    t.to(4000)
    expect(callTimes(t)).toEqual([0, 1700, 3400])
  })

  it('of a sensor counts from the end of its own execution', async () => {
    const t = await ticking({ type: 'reactive' }, slow, { pollingPeriod: 1000, pollingFixedRate: false })
    t.to(4000)
    expect(callTimes(t)).toEqual([0, 1300, 2600, 3900])
  })

  it('of a sensor continues counting when a message replaces the work of its tick', async () => {
    const sensor = on('switch', { pollingPeriod: 1000, pollingFixedRate: false })
    const t = await live(rule({ sensors: { s: sensor } }), {
      script: (plugs) => plugs.say('s', { state: 'On', after: 3000 }),
    })
    t.to(1500)
    t.send({})
    t.to(9000)
    expect(t.lines('tick', 'data', 'result')).toEqual([
      '0 tick s',
      '1500 data r',
      '4500 result s On',
      '5500 tick s',
      '8500 result s On',
    ])
  })

  it('continues after failures', async () => {
    const t = await ticking({ ...EVERY_SECOND, pollingFixedRate: false }, new Error('broken'))
    t.to(2000)
    expect(callTimes(t)).toEqual([0, 1000, 2000])
  })
})

// Holds CLOCK-2
describe('ticks that are late because the machine was suspended', () => {
  async function slept(task: TaskSettings, ms: number) {
    const clock = new JumpingClock()
    const plugs = new ScriptedPlugs()
    const engine = createEngine({ plugs: plugs.plugs, scheduler: clock, ids: () => TASK_ID, seed: 1 })
    const lines: string[] = []
    engine.events$.subscribe((event) => lines.push(line(event)))
    await engine.start(rule({ sensors: { s: 'switch' }, task: { ...EVERY_SECOND, ...task } }))
    clock.sleep(0)
    clock.sleep(ms)
    clock.sleep(1000)
    return lines.filter((text) => /tick|log/.test(text))
  }

  it('run once, for the latest, and the others are counted as skipped; then the schedule continues', async () => {
    expect(await slept({}, 10_500)).toEqual([
      '0 tick',
      '10500 log WARN 9 missed ticks were skipped',
      '10500 tick',
      '11500 tick',
    ])
  })
})
