import { describe, expect, it } from 'vitest'
import { WrittenSamples } from '../../../src/storage/sqlite/chunk-compactor.ts'

describe('samples that were written', () => {
  it('are counted for each of millions of series, however they take turns', () => {
    const written = new WrittenSamples()
    const series = Array.from({ length: 600_000 }, (_, i) => i + 1)
    for (const one of series) written.add(one, 3)
    expect(new Set(series.map((one) => written.add(one, 4)))).toEqual(new Set([7]))
  })

  it('count again after so many', () => {
    const written = new WrittenSamples()
    written.add(8, 100)
    written.lookAfter(8, 20)
    expect([written.add(8, 15), written.add(8, 15), written.add(9, 1)]).toEqual([-5, 10, 1])
  })

  it('are forgotten', () => {
    const written = new WrittenSamples()
    written.add(8, 100)
    written.clear()
    expect(written.add(8, 1)).toBe(1)
  })
})
