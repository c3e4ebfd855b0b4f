import { expect, it } from 'vitest'
import { ScriptFigures } from '../../../src/services/webscripts/script-figures.ts'

it('figures of a webscript estimate times to a tenth, without storing them', () => {
  const figures = new ScriptFigures()
  expect(figures.metrics).toMatchObject({ calls: 0, p50: 0, p99: 0 })
  for (let ms = 1; ms <= 1_000; ms++) figures.answered(ms)
  const { calls, p50, p99 } = figures.metrics
  expect(calls).toBe(1_000)
  for (const [found, wanted] of [
    [p50, 500],
    [p99, 990],
  ] as const) {
    expect(found).toBeGreaterThanOrEqual(wanted)
    expect(found).toBeLessThanOrEqual(wanted * 1.1)
  }
  figures.answered(0)
  figures.answered(1e12)
  expect(figures.metrics.calls).toBe(1_002)
})
