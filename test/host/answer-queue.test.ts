import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AnswerQueue, type Place } from '../../src/host/answer-queue.ts'

describe('answers that have not begun', () => {
  it('are due in their order, each once', () => {
    const queue = new AnswerQueue<string>()
    queue.add('one', 10)
    const two = queue.add('two', 20)
    queue.add('three', 30)
    expect(queue.takeDue(5)).toEqual([])
    expect(queue.takeDue(20)).toEqual(['one', 'two'])
    expect(queue.release(two)).toBe(false)
    expect([...queue]).toEqual(['three'])
  })

  it('do not keep slots of removed entries behind an entry that stays', () => {
    const queue = new AnswerQueue<number>()
    queue.add(-1, 0)
    for (let i = 0; i < 100_000; i++) queue.release(queue.add(i, i))
    expect(queue.size).toBeLessThan(5_000)
    expect([...queue]).toEqual([-1])
  })

  it('equal those of a map with the same operations', () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.constant({ kind: 'add' } as const) },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('letGo' as const), which: fc.nat(50) }) },
      { weight: 1, arbitrary: fc.constant({ kind: 'due' } as const) },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 40 }), (steps, limit) => {
        const queue = new AnswerQueue<number>()
        const model = new Map<number, number>()
        const places: Place<number>[] = []
        let now = 0
        for (const each of steps) {
          now++
          if (each.kind === 'add') {
            model.set(places.length, now + limit)
            places.push(queue.add(places.length, now + limit))
          } else if (each.kind === 'letGo') {
            const number = each.which % Math.max(1, places.length)
            const place = places[number]
            if (place !== undefined) expect(queue.release(place)).toBe(model.delete(number))
          } else {
            const due = [...model].filter(([, end]) => end <= now).map(([number]) => number)
            expect(queue.takeDue(now)).toEqual(due)
            for (const number of due) model.delete(number)
          }
          expect([...queue]).toEqual([...model.keys()])
        }
      }),
    )
  })
})
