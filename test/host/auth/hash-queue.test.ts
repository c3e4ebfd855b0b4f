// Holds HASH-1, HASH-2, HASH-3
import { describe, expect, it } from 'vitest'
import { HashQueue, networkOf } from '../../../src/host/auth/hash-queue.ts'

/** Creates a queue whose two places are taken; `release` frees both, so that waiting checks run one by one. */
function busyQueue() {
  const queue = new HashQueue()
  const order: string[] = []
  const open: (() => void)[] = []
  for (const _ of [1, 2])
    void queue.run({ network: 'x', wasGood: false }, () => new Promise<void>((go) => open.push(go)))
  const ask = (name: string, network: string, wasGood = false) =>
    queue.run({ network, wasGood }, async () => void order.push(name)).catch(() => void order.push(`${name} refused`))
  return { ask, order, release: () => open.splice(0).forEach((go) => go()) }
}

describe('secrets that wait to be hashed', () => {
  it('are hashed in turn by network, previously valid ones first', async () => {
    const { ask, order, release } = busyQueue()
    const all = [ask('a1', 'a'), ask('a2', 'a'), ask('a3', 'a'), ask('b1', 'b'), ask('good', 'a', true), ask('c1', 'c')]
    release()
    await Promise.all(all)
    expect(order).toEqual(['good', 'a1', 'b1', 'c1', 'a2', 'a3'])
  })

  it('give way to others when one network has filled the queue', async () => {
    const { ask, order, release } = busyQueue()
    const all = Array.from({ length: 101 }, (_, i) => ask(`a${i}`, 'a'))
    all.push(ask('b', 'b'), ask('good', 'c', true))
    release()
    await Promise.all(all)
    expect(order.filter((one) => one.endsWith('refused'))).toEqual(['a100 refused', 'a99 refused'])
    expect(order.filter((one) => !one.startsWith('a'))).toEqual(['good', 'b'])
  })

  it('continue after one that failed', async () => {
    const queue = new HashQueue()
    const turn = { network: 'a', wasGood: false }
    const failing = () => Promise.reject(new Error('no'))
    await Promise.allSettled([1, 2, 3, 4].map(() => queue.run(turn, failing)))
    expect(await queue.run(turn, async () => 'done')).toBe('done')
  })
})

it.each([
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:DB8:1:2::6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['', ''],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
