import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FiringHistory } from '../../../src/core/columnar/firing-history.ts'
import { runs } from '../../support/arbitraries/runs.ts'

const FIRST = 2

/** Which rows fire at each message, from the place FIRST on; some rarely, some always. */
const cases = fc
  .record({
    rows: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 200 })),
    messages: fc.oneof(fc.nat(9), fc.nat(300)),
    seed: fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 11 }),
  })
  .map(({ rows, messages, seed }) => ({
    rows,
    fired: Array.from({ length: messages }, (_, m) =>
      Array.from({ length: rows }, (__, row) => {
        const rarity = seed[row % seed.length] ?? 0
        return rarity < 40 && (m * 7 + row * 3) % (rarity + 1) === 0
      }),
    ),
  }))

function historyOf({ rows, fired }: { rows: number; fired: readonly (readonly boolean[])[] }): FiringHistory {
  const history = new FiringHistory(rows, FIRST + fired.length + 1)
  for (const [m, all] of fired.entries()) {
    for (const [row, fires] of all.entries()) {
      const word = history.at(FIRST + m) + (row >> 5)
      if (fires) history.sets[word] = (history.sets[word] ?? 0) | (1 << (row & 31))
    }
  }
  return history
}

/** Places of the messages at which a row fired, the newest one first. */
function placesOf(fired: readonly (readonly boolean[])[], row: number): readonly number[] {
  return fired.flatMap((all, m) => (all[row] === true ? [FIRST + m] : [])).reverse()
}

describe('the history of firings', () => {
  it('reports how often each row fired, when last and when last but one', () => {
    fc.assert(
      fc.property(cases, (one) => {
        const history = historyOf(one)
        history.sumUp(FIRST, FIRST + one.fired.length - 1)
        for (let row = 0; row < one.rows; row++) {
          const places = placesOf(one.fired, row)
          const [last = 0, before = 0] = places
          expect([history.times[row], history.last[row], history.before[row]]).toEqual([places.length, last, before])
        }
      }),
      runs(100),
    )
  })

  it('copies sets that stay as they are', () => {
    fc.assert(
      fc.property(cases, ({ rows, fired }) => {
        const history = historyOf({ rows, fired })
        const copies = fired.map((_, m) => history.copy(FIRST + m))
        history.clear(FIRST + fired.length - 1)
        const isIn = (m: number, row: number): boolean => (((copies[m]?.[row >> 5] ?? 0) >> (row & 31)) & 1) === 1
        expect(fired.map((all, m) => all.map((__, row) => isIn(m, row)))).toEqual(fired)
      }),
      runs(50),
    )
  })

  it('omits only rows that the last message has not reached', () => {
    fc.assert(
      fc.property(cases, fc.nat(200), (one, r) => {
        const reached = r % (one.rows + 1)
        const history = historyOf(one)
        const newest = FIRST + one.fired.length - 1
        history.leaveOut(newest, reached)
        history.sumUp(FIRST, newest)
        for (let row = 0; row < one.rows; row++) {
          const places = placesOf(one.fired, row).filter((at) => at < newest || row < reached)
          expect(history.times[row]).toBe(places.length)
        }
      }),
      runs(100),
    )
  })

  it('restarts', () => {
    const history = historyOf({
      rows: 40,
      fired: Array.from({ length: 9 }, () => Array.from({ length: 40 }, () => true)),
    })
    history.clear(FIRST + 8)
    history.sumUp(FIRST, FIRST + 8)
    expect([...history.times, ...history.last, ...history.before].every((one) => one === 0)).toBe(true)
  })
})
