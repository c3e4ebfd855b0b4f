/** Tests that a plotted series is bounded and keeps its extremes. */
import { expect, it } from 'vitest'
import { PlotPoints } from '../../../src/cli/html/plot-points.ts'

it('keeps each point of a short series', () => {
  const points = new PlotPoints(0, 1_000_000)
  for (const [time, value] of [
    [0, 5],
    [500_000, 7],
    [1_000_000, 6],
  ] as const)
    points.add(time, value)
  expect(points.points).toEqual([
    { time: 0, value: 5 },
    { time: 500_000, value: 7 },
    { time: 1_000_000, value: 6 },
  ])
})

it('keeps the extremes of each pixel in order of time, at most 2,000 points', () => {
  const points = new PlotPoints(0, 999_999)
  for (let time = 0; time < 1_000_000; time++) points.add(time, time === 654_321 ? 1_000 : time % 7)
  points.add(-1, 9_999)
  points.add(1_000_001, 9_999)
  points.add(5, Number.NaN)
  expect(points.count).toBe(1_000_000)
  expect(points.points.length).toBeLessThanOrEqual(2_000)
  expect(points.points.filter(({ value }) => value > 6)).toEqual([{ time: 654_321, value: 1_000 }])
  const times = points.points.map(({ time }) => time)
  expect(times).toEqual(times.toSorted((a, b) => a - b))
})
