import { describe, expect, it } from 'vitest'
import { Gathering, halves } from '../../../src/storage/postgres/gathering.ts'

const item = (name: string, size = 1) => ({ name, size })

/** Creates a gathering whose work ends when the test says so, and that records each batch. */
function steered(limits = { items: 10, size: 100 }) {
  const batches: string[][] = []
  const ends: (() => void)[] = []
  const gathering = new Gathering<{ name: string; size: number }>(async (items) => {
    batches.push(items.map(({ name }) => name))
    await new Promise<void>((resolve) => ends.push(resolve))
  }, limits)
  const next = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { gathering, batches, next, end: () => ends.shift()?.() }
}

describe('a gathering', () => {
  it('does what is handed over in one turn together, and then what came meanwhile', async () => {
    const { gathering, batches, next, end } = steered()
    gathering.add(item('a'))
    await Promise.resolve()
    gathering.add(item('b'))
    expect([batches, gathering.queued]).toEqual([[], 2])
    await next()
    expect(batches).toEqual([['a', 'b']])
    for (const name of ['c', 'd', 'e']) gathering.add(item(name))
    expect(gathering.queued).toBe(5)
    end()
    await next()
    expect(batches).toEqual([
      ['a', 'b'],
      ['c', 'd', 'e'],
    ])
    end()
    await gathering.idle()
    expect(gathering.queued).toBe(0)
  })

  it('keeps to its limits; one that is too large alone goes alone', async () => {
    const { gathering, batches, next, end } = steered({ items: 2, size: 10 })
    for (const [name, size] of Object.entries({ a: 1, b: 1, c: 6, d: 5, e: 50, f: 1 })) gathering.add(item(name, size))
    const idle = gathering.idle()
    for (let round = 0; round < 5; round += 1) {
      await next()
      end()
    }
    await idle
    expect(batches).toEqual([['a', 'b'], ['c'], ['d'], ['e'], ['f']])
  })

  it('is idle at first', async () => {
    const { gathering } = steered()
    await gathering.idle()
    expect(gathering.queued).toBe(0)
  })

  it('continues after it was idle', async () => {
    const { gathering, batches, next, end } = steered()
    for (const name of ['a', 'b']) {
      gathering.add(item(name))
      await next()
      end()
      await gathering.idle()
    }
    expect(batches).toEqual([['a'], ['b']])
  })
})

describe('halves', () => {
  it.each([
    [
      ['a', 'b'],
      [['a'], ['b']],
    ],
    [
      ['a', 'b', 'c'],
      [['a', 'b'], ['c']],
    ],
  ])('of %j are %j', (items, expected) => {
    expect(halves(items)).toEqual(expected)
  })
})
