import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Severity } from '../../../src/services/alarms/alarm-schema.ts'
import { FigureSum } from '../../../src/services/alarms/figures.ts'
import { runs } from '../../support/arbitraries/runs.ts'
import { alarmOf, bench, NOON, type Bench } from './support/bench-of-alarms.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

let alarms: Bench
beforeEach(async () => {
  alarms = await bench()
})
afterEach(() => alarms.close())

/** Raises an alarm and clears it a second later. */
async function come(at: number, source: string, more: object = {}): Promise<void> {
  alarms.clock.now = NOON + at
  const { id } = await alarms.api.raise(alarmOf({ source: { id: source }, ...more }))
  alarms.clock.now += 1000
  await alarms.api.update(id, { status: 'CLEARED' })
}

describe('figures', () => {
  it('of a period count announced alarms, their rates, peak, floods, top, chattering, standing and stale ones', async () => {
    await come(-2 * DAY, 'earlier')
    await alarms.api.raise(alarmOf({ source: { id: 'old' } }))
    for (let i = 0; i < 11; i++) await come(i * 50_000, `r${i}`, { severity: 'MINOR' })
    for (let i = 0; i < 5; i++) await come(10 * MINUTE + i * 10_000, 'r0', { severity: 'CRITICAL' })
    for (let i = 0; i < 4; i++) await come(20 * MINUTE + i * 31_000, 'r1')
    await come(30 * MINUTE, 'held', { snoozeUntil: NOON + DAY })
    alarms.clock.now = NOON + 40 * MINUTE
    await alarms.api.raise(alarmOf({ source: { id: 'new' } }))
    const figures = await alarms.api.figures({ from: NOON, until: NOON + HOUR, operators: 1 })
    const iso = (ms: number) => new Date(NOON + ms).toISOString()
    expect(figures).toMatchObject({
      alarms: 21,
      held: 1,
      perTenMinutes: 3.5,
      perHour: 21,
      perDay: 504,
      peak: { alarms: 11, perOperator: 11, from: iso(0) },
      flood: {
        count: 1,
        seconds: 1200,
        share: 0.333333,
        floods: [{ from: iso(0), until: iso(20 * MINUTE), alarms: 16, peak: 11 }],
      },
      severities: { CRITICAL: 5, MAJOR: 5, MINOR: 11, WARNING: 0 },
      chattering: { count: 1, alarms: [{ source: 'r0', type: 'HEAT', alarms: 6 }] },
      standing: 2,
      stale: { count: 1, alarms: [{ source: 'old', since: new Date(NOON - 2 * DAY + 1000).toISOString() }] },
    })
    expect(figures.top.slice(0, 2)).toEqual([
      { source: 'r0', type: 'HEAT', alarms: 6, share: 0.285714 },
      { source: 'r1', type: 'HEAT', alarms: 5, share: 0.238095 },
    ])
    expect([figures.top.length, figures.topShare]).toEqual([10, 0.904762])
    const two = await alarms.ask('GET', `/alarm/figures?from=${NOON}&until=${NOON + HOUR}&operators=2`)
    expect(two.json()).toMatchObject({ perTenMinutes: 1.75, flood: { count: 0, seconds: 0 } })
  })

  it('are zero for an empty day, the default', async () => {
    expect(await alarms.api.figures({})).toMatchObject({
      from: new Date(NOON - DAY).toISOString(),
      alarms: 0,
      perDay: 0,
      peak: { alarms: 0 },
      topShare: 0,
      standing: 0,
    })
  })

  it.each([
    [{ from: NOON, until: NOON }, '/from'],
    [{ from: NOON - 400 * DAY }, '/from'],
    [{ operators: 0 }, '/operators'],
  ])('of %j are rejected', async (query, path) => {
    await expect(alarms.api.figures(query)).rejects.toMatchObject({ code: 'VALIDATION', issues: [{ path }] })
  })

  it('agree with their definitions for any alarms', () => {
    const occurrence = fc.record({
      time: fc.integer({ min: 0, max: 2 * HOUR - 1 }),
      source: fc.constantFrom('a', 'b'),
      type: fc.constantFrom('x', 'y'),
      severity: fc.constantFrom<Severity>('MAJOR', 'MINOR'),
      isHeld: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(occurrence, { maxLength: 120 }), fc.integer({ min: 1, max: 3 }), (all, operators) => {
        const sum = new FigureSum({ from: 0, until: 2 * HOUR, operators })
        const sorted = all.toSorted((a, b) => a.time - b.time)
        for (const one of sorted) sum.add(one)
        const figures = sum.figures()
        const announced = sorted.filter(({ isHeld }) => !isHeld)
        expect(figures.alarms + figures.held).toBe(all.length)
        const slots = Array.from({ length: 12 }, (_, i) => {
          return announced.filter(({ time }) => Math.floor(time / (10 * MINUTE)) === i).length
        })
        expect(figures.peak.alarms).toBe(Math.max(...slots))
        let isFlood = false
        const flooded = slots.filter(
          (count) => (isFlood = count > 10 * operators || (isFlood && count >= 5 * operators)),
        )
        expect(figures.flood.seconds).toBe(flooded.length * 600)
        const chatters = (key: string) => {
          const times = announced.filter(({ source, type }) => source + type === key).map(({ time }) => time)
          return times.some((time, i) => (times[i + 2] ?? Infinity) - time <= MINUTE)
        }
        expect(figures.chattering.count).toBe(['ax', 'ay', 'bx', 'by'].filter(chatters).length)
      }),
      runs(100),
    )
  })
})
