import { describe, expect, it } from 'vitest'
import { sampleTime } from '../../../src/core/plug/sample-time.ts'

const of = (timestamp: unknown, isNew = timestamp !== undefined) =>
  sampleTime({ isNew: () => isNew, streamValue: () => timestamp, now: 10_000 })

describe('when the values of a message were measured', () => {
  it.each([
    ['epoch ms', 7000, 7000],
    ['before 1970', -5, -5],
    ['ISO 8601', '1970-01-01T00:00:07.500Z', 7500],
    ['ISO 8601 with an offset', '1970-01-01T01:00:07+01:00', 7000],
    ['of the future: now', 10_001, 10_000],
    ['not to be read: now', 'yesterday', 10_000],
    ['no time at all: now', { at: 5 }, 10_000],
    ['no number: now', Number.NaN, 10_000],
    ['absent: now', undefined, 10_000],
  ])('%s', (_, timestamp, expected) => {
    expect(of(timestamp)).toBe(expected)
  })

  it('is now if the timestamp belongs to an earlier message', () => {
    expect(of(7000, false)).toBe(10_000)
  })
})
