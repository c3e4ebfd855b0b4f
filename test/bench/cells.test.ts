/** Tests that hand-written limits, the engine and the plain reference agree, also about odd messages. */
import { describe, expect, it } from 'vitest'
import { engineCell, type OddEvent, oddEvents } from '../../bench/cells/engine-cell.ts'
import { Firings, stampOf, weightOf } from '../../src/bench/firings.ts'
import { limitOf, LIMITS } from '../../bench/cells/limits.ts'
import { expectedFirings } from '../../bench/samples/cells.ts'
import { ROWS, type Data } from '../../bench/cells/targets.ts'
import { isCell } from '../../bench/measurements/cells.ts'
import { EVENT_COUNT, START_MS, STEP_MS, type Clock } from '../../bench/events.ts'
import type { Workload } from '../../bench/workload.ts'
import { workloadNamed, type WorkloadName } from '../../bench/workloads.ts'
import { some } from '../support/arbitraries/runs.ts'

const DATA: readonly Data[] = ['smooth', 'extra', 'missing', 'orders', 'carried', 'nulls']

function play(events: readonly OddEvent[], total: number, clock: Clock, handle: (event: OddEvent) => void): void {
  for (let i = 0; i < total; i++) {
    clock.now += STEP_MS
    clock.stamp = stampOf(i)
    const event = events[i % EVENT_COUNT]
    if (event !== undefined) handle(event)
  }
}

// Workloads and their events are created once for all tests.
const workloads = new Map<WorkloadName, Workload>()
function workloadOf(name: WorkloadName): Workload {
  const workload = workloads.get(name) ?? workloadNamed(name)
  workloads.set(name, workload)
  return workload
}

const events = new Map<string, readonly OddEvent[]>()
function oddOf(name: WorkloadName, data: Data): readonly OddEvent[] {
  const key = `${name} ${data}`
  const made = events.get(key) ?? oddEvents(workloadOf(name).events, data)
  events.set(key, made)
  return made
}

const at = (): Clock => ({ now: START_MS, stamp: 0 })

describe('hand-written limits', () => {
  const cases = (['w1', 'w2', 'w3', 'w4'] as const).flatMap((name) =>
    (['smooth', 'missing', 'carried', 'nulls'] as const).flatMap((data) =>
      LIMITS.filter((who) => who === 'loop' || name === 'w2').map((who) => ({ name, data, who })),
    ),
  )

  it.each(some(cases))('for $name with $data messages fire like the reference: $who', ({ name, data, who }) => {
    const workload = workloadOf(name)
    const events = oddOf(name, data)
    const clock = at()
    const firings = new Firings(clock)
    const total = name === 'w2' ? 500 : EVENT_COUNT + 20_000
    play(events, total, clock, limitOf(who, workload, { events, time: 'variable', clock, firings }))
    const expected = expectedFirings(workload, events, { total, time: 'variable' })
    expect({ count: firings.count, sum: firings.sum }).toEqual(expected)
    expect(expected.count).toBeGreaterThan(100)
  })
})

describe('the engine', () => {
  it.each(some((['w1', 'w3', 'w4'] as const).flatMap((name) => DATA.map((data) => ({ name, data })))))(
    'fires for $name with $data messages like the reference',
    async ({ name, data }) => {
      const workload = workloadOf(name)
      const events = oddOf(name, data)
      const clock = at()
      const firings = new Firings(clock)
      const cell = await engineCell(workload, {
        row: 'odd',
        answer: 'nothing',
        time: 'variable',
        delivery: 'together',
        clock,
        firings,
      })
      play(events, 5000, clock, cell.handle)
      await cell.finish(5000)
      expect({ count: firings.count, sum: firings.sum }).toEqual(
        expectedFirings(workload, events, { total: 5000, time: 'variable' }),
      )
    },
  )

  it('keeps the state of a sensor over two minutes without its value', async () => {
    const workload = workloadOf('w1d')
    const events = oddOf('w1d', 'carried')
    const [clock, other] = [at(), at()]
    const [firings, byHand] = [new Firings(clock), new Firings(other)]
    const cell = await engineCell(workload, {
      row: 'odd',
      answer: 'nothing',
      time: 'variable',
      delivery: 'together',
      clock,
      firings,
    })
    play(events, 13_000, clock, cell.handle)
    const limit = limitOf('loop', workload, { events, time: 'variable', clock: other, firings: byHand })
    play(events, 13_000, other, limit)
    const expected = expectedFirings(workload, events, { total: 13_000, time: 'variable' })
    expect({ count: firings.count, sum: firings.sum }).toEqual(expected)
    expect({ count: byHand.count, sum: byHand.sum }).toEqual(expected)
  })

  it.each(ROWS.filter((row) => row !== 'odd'))('is observed and checked: %s', async (row) => {
    const workload = workloadOf('w4')
    const clock = at()
    const firings = new Firings(clock)
    const cell = await engineCell(workload, {
      row,
      answer: 'object',
      time: 'variable',
      delivery: 'together',
      clock,
      firings,
    })
    cell.beginCheck()
    play(workload.events, 500, clock, cell.handle)
    await cell.finish(500)
    expect(firings.count).toBeGreaterThan(10)
  })
})

describe('odd messages', () => {
  const count = workloadOf('w1').events.length
  const shareOf = (data: Data, isOdd: (event: OddEvent) => boolean) => oddOf('w1', data).filter(isOdd).length / count

  it('occur once in a hundred messages, or always', () => {
    expect(shareOf('extra', (event) => 'battery' in event)).toBeCloseTo(0.01, 2)
    expect(shareOf('missing', (event) => Object.keys(event).length === 2)).toBeCloseTo(0.01, 2)
    expect(shareOf('carried', (event) => Object.keys(event).length === 2)).toBe(1)
    expect(shareOf('nulls', (event) => event.temperature === null || event.humidity === null)).toBeCloseTo(0.005, 2)
    expect(shareOf('nulls', (event) => Number.isNaN(event.temperature) || Number.isNaN(event.humidity))).toBeCloseTo(
      0.005,
      2,
    )
    expect(new Set(oddOf('w1', 'orders').map((event) => Object.keys(event).join())).size).toBe(4)
  })

  it('are equal on every call', () => {
    expect(oddEvents(workloadOf('w1').events, 'nulls')).toEqual(oddOf('w1', 'nulls'))
  })
})

describe('the sum of firings', () => {
  const sumOf = (pairs: readonly (readonly [rule: number, message: number])[]) => {
    const clock = at()
    const firings = new Firings(clock)
    for (const [rule, message] of pairs) {
      clock.stamp = stampOf(message)
      firings.add(weightOf(rule))
    }
    return firings.sum
  }

  it('depends on rule and message, but not on the order', () => {
    expect(
      sumOf([
        [1, 5],
        [2, 6],
      ]),
    ).toBe(
      sumOf([
        [2, 6],
        [1, 5],
      ]),
    )
    expect(
      sumOf([
        [1, 5],
        [2, 6],
      ]),
    ).not.toBe(
      sumOf([
        [2, 5],
        [1, 6],
      ]),
    )
    expect(
      sumOf([
        [1, 5],
        [1, 7],
      ]),
    ).not.toBe(
      sumOf([
        [1, 6],
        [1, 6],
      ]),
    )
  })
})

describe('names of cells', () => {
  it.each([
    ['w2/odd', true],
    ['w2/odd/nulls', true],
    ['odd', true],
    ['w4/*', true],
    ['w2', false],
    ['w2/odd/none', false],
    ['w5/odd', false],
  ])('%s: %s', (name, expected) => {
    expect(isCell(name)).toBe(expected)
  })
})
