/** Tests a hundred random queries against results from pandas and SciPy (`npm run judge:queries`). */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { randomCase } from '../../judges/queries/random-queries.ts'
import { runCase } from '../../judges/queries/run-case.ts'

interface Recorded {
  readonly id: number
  readonly rows: readonly (readonly (number | string | boolean | null)[])[]
}

const file = new URL('../../../fixtures/queries/judged.json', import.meta.url)
const recorded = JSON.parse(readFileSync(file, 'utf8')) as readonly Recorded[]

describe('a random query', () => {
  it.each(recorded)('$id has the result of pandas and SciPy', async ({ id, rows }) => {
    const answered = (await runCase(randomCase(id))) as Recorded['rows']
    expect(answered.map(([time]) => time)).toEqual(rows.map(([time]) => time))
    const largest = Math.max(
      1,
      ...rows.flatMap((row) => row.slice(1).map((cell) => (typeof cell === 'number' ? Math.abs(cell) : 0))),
    )
    for (const [i, row] of rows.entries()) {
      for (const [k, expected] of row.entries()) {
        const cell = answered[i]?.[k]
        if (typeof expected !== 'number' || typeof cell !== 'number') expect(cell).toBe(expected)
        else expect(Math.abs(cell - expected)).toBeLessThanOrEqual(1e-9 * largest)
      }
    }
  })

  it('is one of a set that covers all methods, zones and kinds of samples', () => {
    expect(recorded).toHaveLength(100)
    const text = JSON.stringify(recorded.map(({ id }) => randomCase(id)))
    for (const name of [
      'akima',
      'pchip',
      'cubic',
      'spline',
      'std',
      'percentile',
      'Lord_Howe',
      'Sao_Paulo',
      'P1M',
      '"on"',
      'true',
    ]) {
      expect([name, text.includes(name)]).toEqual([name, true])
    }
  })
})
