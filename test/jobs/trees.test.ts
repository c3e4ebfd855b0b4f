import { describe, expect, it } from 'vitest'
import type { NewJob } from '../../src/jobs/contract.ts'
import { begun, DONE, Hand, handed } from './support/hand.ts'
import { JobWorld } from './support/job-world.ts'

/** As in the registry: a build, then a deployment, then a check. */
const TREE: NewJob = {
  type: 'work',
  id: 'verify',
  children: [{ type: 'work', id: 'deploy', children: [{ type: 'work', id: 'build' }] }],
}

describe('a tree of jobs', () => {
  it('shows a parent the results of its children, oldest first', async () => {
    const { world, hand, queue } = handed()
    const children = ['c', 'a', 'b'].map((id) => ({ type: 'work', id }))
    await queue.add({ type: 'work', id: 'p', children })
    await world.settle()
    for (const call of [2, 0, 1]) hand.end(call, { kind: 'completed', result: call })
    await world.settle()
    expect((await hand.context(3).children()).map(({ id, result }) => [id, result])).toEqual([
      ['c', 0],
      ['a', 1],
      ['b', 2],
    ])
  })

  it('fails up to its root when a child fails permanently; siblings continue', async () => {
    const { world, hand, queue } = handed()
    const sister = { type: 'work', id: 'sister' }
    await queue.add({ ...TREE, children: [...(TREE.children ?? []), sister] })
    await world.settle()
    hand.end(hand.ids.indexOf('build'), { kind: 'failed', reason: 'no compiler' })
    await world.settle()
    expect(await queue.get('deploy')).toMatchObject({
      state: 'failed',
      failedReason: 'its child work build failed: no compiler',
    })
    expect(await queue.get('verify')).toMatchObject({
      state: 'failed',
      failedReason: 'its child work deploy failed: its child work build failed: no compiler',
      attemptsStarted: 0,
    })
    hand.end(hand.ids.indexOf('sister'))
    await world.settle()
    expect(await queue.get('sister')).toMatchObject({ state: 'completed' })
    expect(hand.ids.toSorted()).toEqual(['build', 'sister'])
  })

  it('counts children that end at the same moment on two hosts, each once', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    const hosts = [0, 1].map(() => world.host([hand.handler()]))
    const [first, second] = hosts
    const children = Array.from({ length: 20 }, (_, i) => ({ type: 'work', id: `c${i}` }))
    await first?.queue.add({ type: 'work', id: 'p', children })
    await second?.runner.start()
    await world.settle()
    for (let call = 0; call < 20; call++) hand.end(call)
    await world.settle()
    expect(hand.ids.filter((id) => id === 'p')).toEqual(['p'])
    expect(hand.ids).toHaveLength(21)
  })
})

describe('children that a job adds while it runs', () => {
  const children = ['a', 'b'].map((id) => ({ type: 'work', id, data: { of: id } }))

  it('are waited for, and then the job runs again', async () => {
    const { world, hand, queue } = handed()
    await queue.add({ type: 'work', id: 'p' })
    await world.settle()
    hand.end(0, { kind: 'waiting-children', children })
    await world.settle()
    expect(await queue.get('p')).toMatchObject({ state: 'waiting-children', childrenLeft: 2 })
    expect((await queue.get('p'))?.lease).toBe(undefined)
    expect(await queue.get('a')).toMatchObject({ ancestors: ['p'], data: { of: 'a' } })
    hand.end(1)
    hand.end(2)
    await world.settle()
    expect(hand.ids).toEqual(['p', 'a', 'b', 'p'])
    expect(await hand.context(3).children()).toHaveLength(2)
  })

  it('are not stored when the job lost its lease meanwhile', async () => {
    const { world, hand, queue } = handed()
    await queue.add({ type: 'work', id: 'p' })
    await world.settle()
    await queue.cancel('p')
    hand.end(0, { kind: 'waiting-children', children })
    await world.settle()
    expect([await queue.get('a'), (await queue.get('p'))?.isCancelled]).toEqual([undefined, true])
  })

  it('are rejected when the tree would be too large or too deep, which counts as a failed attempt', async () => {
    const { world, hand, queue } = handed()
    const many = Array.from({ length: 600 }, () => ({ type: 'work' }))
    await queue.add({ type: 'work', id: 'p' })
    await world.settle()
    hand.end(0, { kind: 'waiting-children', children: many })
    await world.settle()
    expect(await queue.counts()).toEqual(
      new Map([
        ['active', 100],
        ['waiting', 500],
        ['waiting-children', 1],
      ]),
    )
    hand.end(1, { kind: 'waiting-children', children: many })
    await world.settle()
    expect(await queue.get(hand.ids[1] ?? '')).toMatchObject({
      state: 'failed',
      failedReason: 'the tree of the job would have more than 1000 jobs; use several trees',
    })
  })
})

describe('cancellation', () => {
  it('notifies a handler immediately, and rejects its later commits', async () => {
    const { world, hand, queue } = await begun({ attempts: 5 })
    await queue.cancel('j1')
    expect(hand.context(0).signal.aborted).toBe(true)
    await expect(hand.context(0).progress({ done: 1, total: 2 })).rejects.toMatchObject({ code: 'CONFLICT' })
    hand.end(0, DONE)
    await world.advance(60_000)
    expect(await queue.get('j1')).toMatchObject({ state: 'failed', isCancelled: true })
    expect(hand.calls).toHaveLength(1)
  })

  it('reaches a handler on another host by its next renewal', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    await world.host([hand.handler()]).queue.add({ type: 'work' })
    await world.settle()
    await world.host([hand.handler()]).queue.cancel('j1')
    expect(hand.context(0).signal.aborted).toBe(false)
    await world.advance(5_000)
    expect(hand.context(0).signal.aborted).toBe(true)
  })

  it('of an ended job is a conflict, and of an unknown id an unknown job', async () => {
    const { hand, queue } = await begun()
    hand.end(0)
    await queue.finished('j1')
    await expect(queue.cancel('j1')).rejects.toThrow('job j1 is completed; cancel requires')
    await expect(queue.cancel('x')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
