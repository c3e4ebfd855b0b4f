import { describe, expect, it } from 'vitest'
import { Pauses } from '../../../../src/services/queries/execution/pauses.ts'

/** Time and turns by hand. */
function byHand() {
  let now = 0
  const next: (() => void)[] = []
  const timers = { elapsed: () => now, soon: (work: () => void) => void next.push(work) }
  const turn = async (): Promise<void> => {
    for (const work of next.splice(0)) work()
    // what goes on does so before the next turn
    for (let i = 0; i < 5; i++) await Promise.resolve()
  }
  return { pauses: new Pauses(timers), turn, pass: (ms: number) => (now += ms) }
}

describe('pauses', () => {
  it('are not made before it is time', () => {
    const { pauses, pass } = byHand()
    pass(0.9)
    expect(pauses.due()).toBeUndefined()
    pass(0.2)
    expect(pauses.due()).toBeInstanceOf(Promise)
  })

  it('let one go on in each turn, in the order in which they came, whoever they are', async () => {
    const { pauses, turn, pass } = byHand()
    const went: string[] = []
    const work = async (name: string): Promise<void> => {
      for (const part of [1, 2]) {
        await pauses.due()
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

  it('let who has gone on work until the time of the turn is over, although others wait', async () => {
    const { pauses, turn, pass } = byHand()
    pass(2)
    const first = pauses.due()
    const second = pauses.due()
    await turn()
    await first
    pass(0.5)
    expect(pauses.due()).toBeUndefined()
    pass(1)
    expect(pauses.due()).toBeInstanceOf(Promise)
    await turn()
    await second
  })
})
