import { describe, expect, it } from 'vitest'
import { Yielder } from '../../src/kernel/yielder.ts'

/** A clock and turns that the test controls. */
function byHand() {
  let now = 0
  const next: (() => void)[] = []
  const timers = { elapsed: () => now, soon: (work: () => void) => void next.push(work) }
  const turn = async (): Promise<void> => {
    for (const work of next.splice(0)) work()
    // a resumed waiter runs before the next turn
    for (let i = 0; i < 5; i++) await Promise.resolve()
  }
  return { yielder: new Yielder(timers, 1), turn, pass: (ms: number) => (now += ms) }
}

describe('a yielder', () => {
  it('does not wait before its slice is over', () => {
    const { yielder, pass } = byHand()
    pass(0.9)
    expect(yielder.due()).toBeUndefined()
    pass(0.2)
    expect(yielder.due()).toBeInstanceOf(Promise)
  })

  it('resumes one waiter in each turn, in order of arrival', async () => {
    const { yielder, turn, pass } = byHand()
    const went: string[] = []
    const work = async (name: string): Promise<void> => {
      for (const part of [1, 2]) {
        await yielder.due()
        went.push(`${name}${part}`)
        pass(2)
      }
    }
    pass(2)
    const all = Promise.all(['a', 'b', 'c'].map(work))
    const seen: string[][] = []
    for (let i = 0; i < 6; i++) {
      await turn()
      seen.push(went.splice(0))
    }
    expect(seen).toEqual([['a1'], ['b1'], ['c1'], ['a2'], ['b2'], ['c2']])
    await all
  })

  it('lets a resumed waiter work until its slice of the turn is over, although others wait', async () => {
    const { yielder, turn, pass } = byHand()
    pass(2)
    const first = yielder.due()
    const second = yielder.due()
    await turn()
    await first
    pass(0.5)
    expect(yielder.due()).toBeUndefined()
    pass(1)
    expect(yielder.due()).toBeInstanceOf(Promise)
    await turn()
    await second
  })

  it('runs short work in order, as much in a turn as its slice allows', async () => {
    const { yielder, turn, pass } = byHand()
    const done: number[] = []
    for (let n = 0; n < 100; n++) {
      yielder.soon(() => {
        done.push(n)
        if (n === 40) yielder.soon(() => done.push(100))
        pass(0.02)
      })
    }
    const seen: number[] = []
    for (let i = 0; i < 4; i++) {
      await turn()
      seen.push(done.length)
    }
    expect([seen, done]).toEqual([[64, 101, 101, 101], Array.from({ length: 101 }, (_, n) => n)])
  })

  it('maps a long list over several turns', async () => {
    const { yielder, turn, pass } = byHand()
    const mapped = yielder.map(new Float64Array(100), (value, place) => {
      pass(0.02)
      return value + place
    })
    let turns = 0
    void mapped.then(() => (turns = -turns))
    while (turns >= 0) {
      turns++
      await turn()
    }
    expect([turns, await mapped]).toEqual([-2, Array.from({ length: 100 }, (_, place) => place)])
  })
})
