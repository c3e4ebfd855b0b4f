import { describe, expect, it } from 'vitest'
import { Delays } from '../../../src/core/engine/delays.ts'
import { VirtualClock } from '../../../src/index.ts'

function delayed(...given: readonly [ms: number, name: string][]) {
  const clock = new VirtualClock(100)
  const delays = new Delays(clock)
  const done: string[] = []
  const add = (ms: number, name: string) => delays.add(ms, () => void done.push(`${clock.now()} ${name}`))
  for (const [ms, name] of given) add(ms, name)
  return { clock, delays, done, add }
}

describe('delayed results', () => {
  it('apply when they are due, in the order of their calls at equal times', () => {
    const t = delayed([20, 'c'], [10, 'a'], [10, 'b'])
    t.clock.advanceTo(109)
    expect([t.done, t.delays.size]).toEqual([[], 3])
    t.clock.advanceTo(110)
    expect([t.done, t.delays.size]).toEqual([['110 a', '110 b'], 1])
    t.clock.advanceTo(500)
    expect([t.done, t.delays.size]).toEqual([['110 a', '110 b', '120 c'], 0])
  })

  it('apply at once when flushed, the earliest first, and only once', () => {
    const t = delayed([20, 'c'], [10, 'a'], [10, 'b'])
    for (let i = 0; i < 3; i++) t.delays.hurry()
    expect([t.done, t.delays.size, t.clock.nextAt()]).toEqual([['100 a', '100 b', '100 c'], 0, undefined])
    t.delays.hurry()
    t.clock.advanceTo(500)
    expect(t.done).toHaveLength(3)
  })

  it('may cause further delayed results', () => {
    const t = delayed()
    t.delays.add(10, () => t.add(5, 'later'))
    t.delays.hurry()
    expect(t.delays.size).toBe(1)
    t.delays.hurry()
    expect(t.done).toEqual(['100 later'])
  })
})
