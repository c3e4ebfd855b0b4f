import { describe, expect, it } from 'vitest'
import { streamNumber } from '../../../src/core/plug/stream-number.ts'

function read(streamData: Record<string, unknown>): number {
  return streamNumber({ streamData, streamValue: (key) => streamData[key] }, 'value')
}

describe('streamNumber', () => {
  it.each([
    [5, 5],
    [0, 0],
    ['5.5', 5.5],
    [' -1e3 ', -1000],
    [true, 1],
    [false, 0],
  ])('reads %j as %d', (value, expected) => expect(read({ value })).toBe(expected))

  it.each([['warm'], [''], ['0x10'], [null], [[1]], [{}], [Number.NaN], [Number.POSITIVE_INFINITY]])(
    'refuses %j',
    (value) => {
      expect(() => read({ value })).toThrow(expect.objectContaining({ code: 'PLUG_FAILED' }))
    },
  )
})
