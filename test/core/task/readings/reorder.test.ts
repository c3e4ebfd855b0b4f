import { describe, expect, it } from 'vitest'
import { Reordering, type WaitingReading } from '../../../../src/core/task/readings/reorder.ts'

const held = (time: number, arrived: number, name = String(time), resource = 'r'): WaitingReading => ({
  time,
  arrived,
  input: { kind: 'data', messages: [{ resource, name }], arrived },
})
const names = (list: readonly WaitingReading[]) => list.map(({ input }) => input.messages[0]?.['name'])

describe('readings that wait', () => {
  // Holds INORDER-1
  it('are processed in order of time, equal ones in order of arrival', () => {
    const waiting = new Reordering(100, () => 0)
    for (const one of [held(30, 31), held(10, 32, 'a'), held(20, 33), held(10, 34, 'b')]) waiting.hold(one)
    expect(waiting.earliest).toBe(110)
    expect(waiting.release(109)).toEqual([])
    expect(names(waiting.release(200).map((one) => one.held))).toEqual(['a', 'b', '20', '30'])
    expect(waiting.earliest).toBe(Number.POSITIVE_INFINITY)
  })

  it('also wait for the lag of their resource, and release earlier readings with them', () => {
    const lags = new Map([
      ['slow', 1000],
      ['fast', 0],
    ])
    const waiting = new Reordering(100, (resource) => lags.get(resource) ?? 0)
    waiting.hold(held(10, 1010, 'early', 'slow'))
    waiting.hold(held(20, 1020, 'late', 'fast'))
    expect(waiting.earliest).toBe(1020)
    expect(waiting.release(1020).map(({ clock, held: { time } }) => [clock, time])).toEqual([
      [1020, 10],
      [1020, 20],
    ])
  })

  // Holds INORDER-2
  it('are limited to a thousand: the oldest above that is processed at once', () => {
    const waiting = new Reordering(100, () => 0)
    for (let time = 1; time <= 1000; time++) expect(waiting.hold(held(time, time))).toBeUndefined()
    expect(waiting.hold(held(2000, 2000))?.time).toBe(1)
    expect(waiting.hold(held(0, 2000))?.time).toBe(0)
    expect(waiting.list).toHaveLength(1000)
  })

  it('are released by a given time', () => {
    const waiting = new Reordering(100, () => 0)
    for (const time of [3, 1, 2]) waiting.hold(held(time, 5))
    expect(names(waiting.upTo(2))).toEqual(['1', '2'])
    waiting.clear()
    expect(waiting.list).toEqual([])
  })
})
