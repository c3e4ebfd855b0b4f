/** Checks time in the engine against hand-written arithmetic: what ticks, when, and what happens to missed ticks. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TickEvent } from '../../src/core/engine/events.ts'
import type { DstPolicy, TaskSettings } from '../../src/core/rule/rule.ts'
import { createEngine } from '../../src/index.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { JumpingClock } from '../support/jumping-clock.ts'
import { live, liveEngine, restarted, TASK_ID } from '../support/live-engine.ts'
import { rule } from '../support/rule-writing.ts'
import { ScriptedPlugs } from '../support/scripted-plugs.ts'
import { VirtualClock } from '../../src/core/simulate/virtual-clock.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const iso = (instant: number) => new Date(instant).toISOString().slice(0, 16)
const ticksOf = (events: readonly { type: string }[]) =>
  events.filter((event): event is TickEvent => event.type === 'tick')
const clockRule = (task: TaskSettings) => rule({ sensors: { s: 'switch' }, task })

/** Returns the instants at which tasks with these clocks tick, each task separately, on one engine. */
async function tickTimes(tasks: readonly TaskSettings[], from: number, until: number): Promise<number[][]> {
  let id = 0
  const { engine, clock, events } = liveEngine({ clock: new VirtualClock(from), ids: () => `${id++}` })
  for (const task of tasks) await engine.start(clockRule(task))
  clock.advanceTo(until)
  const ticks = ticksOf(events)
  for (const { time, scheduledAt } of ticks) expect(time).toBe(scheduledAt)
  return tasks.map((_, i) => ticks.filter(({ task }) => task === `${i}`).map(({ scheduledAt }) => scheduledAt))
}

const POLICIES: readonly Required<DstPolicy>[] = (['shift', 'skip'] as const).flatMap((gap) =>
  (['first', 'second', 'both'] as const).map((overlap) => ({ gap, overlap })),
)

describe('half past two in Brussels, by cron and by rrule', () => {
  const SPRING = { shift: ['2026-03-29T01:30'], skip: [] }
  const AUTUMN = {
    first: ['2026-10-25T00:30'],
    second: ['2026-10-25T01:30'],
    both: ['2026-10-25T00:30', '2026-10-25T01:30'],
  }

  it.each(POLICIES)('is the same instants for a year, with gap $gap and overlap $overlap', async (dst) => {
    const common: TaskSettings = { type: 'scheduled', timeZone: 'Europe/Brussels', dst }
    const [byCron = [], byRule] = await tickTimes(
      [
        { ...common, cron: '0 30 2 * * ?' },
        { ...common, rrule: 'FREQ=DAILY;BYHOUR=2;BYMINUTE=30;BYSECOND=0' },
      ],
      Date.UTC(2026, 0, 1),
      Date.UTC(2027, 0, 1),
    )
    expect(byCron).toEqual(byRule)
    expect(byCron).toHaveLength(365 - (dst.gap === 'skip' ? 1 : 0) + (dst.overlap === 'both' ? 1 : 0))
    expect(byCron.map(iso).filter((at) => at.startsWith('2026-03-29'))).toEqual(SPRING[dst.gap])
    expect(byCron.map(iso).filter((at) => at.startsWith('2026-10-25'))).toEqual(AUTUMN[dst.overlap])
  })
})

describe('any time of day in any zone', () => {
  const zone = fc.constantFrom(
    'Europe/Brussels',
    'America/New_York',
    'Australia/Lord_Howe',
    'Asia/Kolkata',
    'Africa/Casablanca',
    'America/Santiago',
    'Pacific/Apia',
    '+05:30',
  )
  const time = fc.record({ hour: fc.nat(23), minute: fc.nat(59), second: fc.nat(59) })

  it('ticks at the same instants by cron and by rrule', async () => {
    await fc.assert(
      fc.asyncProperty(
        zone,
        time,
        fc.constantFrom(...POLICIES),
        fc.integer({ min: 2000, max: 2037 }),
        async (timeZone, { hour, minute, second }, dst, year) => {
          const common: TaskSettings = { type: 'scheduled', timeZone, dst }
          const [byCron, byRule] = await tickTimes(
            [
              { ...common, cron: `${second} ${minute} ${hour} * * ?` },
              { ...common, rrule: `FREQ=DAILY;BYHOUR=${hour};BYMINUTE=${minute};BYSECOND=${second}` },
            ],
            Date.UTC(year, 0, 1),
            Date.UTC(year + 1, 0, 1),
          )
          expect(byCron).toEqual(byRule)
        },
      ),
      runs(20),
    )
  })
})

// Holds CLOCK-2
describe('a restart in the middle of a downtime', () => {
  const hourly: TaskSettings = { type: 'scheduled', cron: '0 0 * * * ?' }

  async function downFrom3To(end: number, task: TaskSettings) {
    const t = await live(clockRule({ ...hourly, ...task }))
    t.to(3.5 * HOUR)
    t.clear()
    const again = await restarted(t, end * HOUR)
    again.to(end * HOUR + HOUR)
    return again
  }

  it.each<[TaskSettings, readonly number[], number]>([
    [{ misfire: 'skip' }, [8.5], 1],
    [{ misfire: 'once' }, [7.5, 8.5], 0],
    [{ misfire: 'once', maxLateness: 'PT2H' }, [8.5], 1],
    [{ misfire: 'all' }, [7.5, 8.5], 0],
  ])('of a fixed delay misses one tick at most: %j', async (task, expected, skipped) => {
    const t = await downFrom3To(7.5, {
      type: 'periodic',
      frequency: HOUR,
      pollingFixedRate: false,
      cron: undefined,
      ...task,
    } as TaskSettings)
    expect(ticksOf(t.events).map(({ time }) => time / HOUR)).toEqual(expected)
    expect(t.task.info().skippedTicks).toBe(skipped)
  })

  it("holds for a sensor's own clock too", async () => {
    const sensors = { s: { name: 'switch', schedule: '0 0 * * * ?' } }
    const t = await live(rule({ sensors, task: { misfire: 'all', maxMissed: 2 } }))
    t.to(3.5 * HOUR)
    t.clear()
    const again = await restarted(t, 7.5 * HOUR)
    expect(ticksOf(again.events).map(({ node, scheduledAt }) => [node, scheduledAt / HOUR])).toEqual([
      ['s', 6],
      ['s', 7],
    ])
    expect(again.task.info().skippedTicks).toBe(2)
  })

  it('runs and skips what arithmetic says, whatever the policy', async () => {
    const policy = fc.record({
      misfire: fc.constantFrom('skip' as const, 'once' as const, 'all' as const),
      lateness: fc.option(fc.integer({ min: 1, max: 400 }), { nil: undefined }),
      maxMissed: fc.option(fc.nat(20), { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(
        policy,
        fc.integer({ min: 1, max: 60 }),
        fc.nat(3600),
        fc.nat(3600),
        async ({ misfire, lateness, maxMissed }, period, upSeconds, downSeconds) => {
          const t = await live(
            clockRule({
              type: 'periodic',
              frequency: period * 1000,
              misfire,
              ...(lateness !== undefined && { maxLateness: `PT${lateness}S` }),
              ...(maxMissed !== undefined && { maxMissed }),
            }),
          )
          t.to(upSeconds * 1000)
          t.clear()
          const again = await restarted(t, (upSeconds + downSeconds) * 1000)
          const end = upSeconds + downSeconds
          const due: number[] = []
          for (let at = (Math.floor(upSeconds / period) + 1) * period; at <= end; at += period) due.push(at)
          // A tick at the restart itself is not late, and replaces the one that `once` would run late.
          const onTime = due.filter((at) => at === end)
          const most = { skip: 0, once: 1 - onTime.length, all: maxMissed ?? 100 }[misfire]
          const gone = due.filter((at) => at < end)
          const late = gone.slice(gone.length - Math.min(most, gone.length))
          const expected = [...late.filter((at) => end - at <= (lateness ?? Infinity)), ...onTime]
          expect(ticksOf(again.events).map(({ scheduledAt }) => scheduledAt / 1000)).toEqual(expected)
          expect(again.task.info().skippedTicks).toBe(due.length - expected.length)
        },
      ),
      runs(60),
    )
  })
})

// Holds CLOCK-1
describe('a machine whose clock jumps', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('sleep' as const), ms: fc.nat(90_000) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('set' as const), ms: fc.integer({ min: -300_000, max: 300_000 }) }),
    },
  )
  const clocks = fc.constantFrom<TaskSettings>(
    { type: 'periodic', frequency: 7000 },
    { type: 'scheduled', cron: '0/20 * * * * ?' },
    { type: 'scheduled', rrule: 'FREQ=SECONDLY;INTERVAL=30' },
  )

  it('ticks each occurrence once or counts it as skipped, in order, never early, whatever the jumps', async () => {
    await fc.assert(
      fc.asyncProperty(
        clocks,
        fc.constantFrom('skip' as const, 'once' as const, 'all' as const),
        fc.array(step, { maxLength: 40 }),
        async (task, misfire, steps) => {
          const clock = new JumpingClock(1_000_000_000)
          const { plugs } = new ScriptedPlugs()
          const engine = createEngine({ plugs, scheduler: clock, recheckMs: 60_000, ids: () => TASK_ID, seed: 1 })
          const ticks: TickEvent[] = []
          engine.events$.subscribe((event) => void (event.type === 'tick' && ticks.push(event)))
          const started = await engine.start(clockRule({ ...task, misfire }))
          clock.sleep(0)
          let latest = clock.now()
          for (const { kind, ms } of steps) {
            if (kind === 'sleep') clock.sleep(ms)
            else clock.set(clock.now() + ms)
            latest = Math.max(latest, clock.now())
            expect(clock.waiting).toBe(1)
          }
          // Advances the time until the clock has caught up and everything was checked.
          clock.set(Math.max(latest, clock.now()))
          clock.sleep(60_000)
          const times = ticks.map(({ scheduledAt }) => scheduledAt)
          expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b))
          for (const { time, scheduledAt } of ticks) expect(time).toBeGreaterThanOrEqual(scheduledAt)
          const { nextTick = Number.NaN, skippedTicks } = started.info()
          const period = task.frequency ?? (task.cron === undefined ? 30_000 : 20_000)
          const first = task.type === 'periodic' ? 1_000_000_000 : Math.floor(1_000_000_000 / period) * period + period
          const begin = task.rrule === undefined ? first : 1_000_000_000 + period
          expect(times.length + skippedTicks).toBe((nextTick - begin) / period)
          await engine.close()
          expect(clock.waiting).toBe(0)
        },
      ),
      runs(100),
    )
  })
})

it('a wait of years is longer than timers last, and ends on time', async () => {
  const clock = new JumpingClock(Date.UTC(2026, 0, 1, 1))
  const { plugs } = new ScriptedPlugs()
  const engine = createEngine({ plugs, scheduler: clock, ids: () => TASK_ID, seed: 1 })
  const times: string[] = []
  engine.events$.subscribe((event) => void (event.type === 'tick' && times.push(iso(event.time))))
  await engine.start(clockRule({ type: 'scheduled', cron: '0 0 0 29 2 ?' }))
  while (clock.now() < Date.UTC(2032, 5, 1)) clock.sleep(clock.delays.at(-1) ?? DAY)
  expect(times).toEqual(['2028-02-29T00:00', '2032-02-29T00:00'])
  expect(Math.max(...clock.delays)).toBe(2 ** 31 - 1)
})
