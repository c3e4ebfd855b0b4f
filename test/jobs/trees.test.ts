import { describe, expect, it } from 'vitest'
import type { NewJob } from '../../src/jobs/contract.ts'
import { DONE, Hand } from './support/hand.ts'
import { eventsOf, JobWorld } from './support/job-world.ts'

/** As the registry's: a build, then a deployment, then a check. */
const TREE: NewJob = {
  type: 'work',
  id: 'verify',
  children: [{ type: 'work', id: 'deploy', children: [{ type: 'work', id: 'build' }] }],
}

describe('a tree of jobs', () => {
  it('is carried out from its leaves to its root', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    const { queue } = world.host([hand.handler()])
    expect(await queue.add(TREE)).toMatchObject({ id: 'verify', state: 'waiting-children', childrenLeft: 1 })
    for (const [call, id] of ['build', 'deploy', 'verify'].entries()) {
      await world.settle()
      expect(hand.ids.at(-1)).toBe(id)
      hand.end(call, { kind: 'completed', result: `${id} done` })
    }
    await world.settle()
    expect((await eventsOf(queue)).map(({ job, event }) => `${job} ${event}`)).toEqual([
      'verify waiting-children',
      'deploy waiting-children',
      'build waiting',
      'build active',
      'build completed',
      'deploy waiting',
      'deploy active',
      'deploy completed',
      'verify waiting',
      'verify active',
      'verify completed',
    ])
    expect(await queue.get('build')).toMatchObject({ ancestors: ['verify', 'deploy'] })
    expect(hand.calls.map(({ context }) => context.isRepeat)).toEqual([false, false, false])
  })

  it('shows a parent what its children came to, oldest first', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    const { queue } = world.host([hand.handler()])
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

  it('fails up to its root when a child fails for good; sisters go on', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    const { queue } = world.host([hand.handler()])
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

  it('waits through the attempts of a child', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    const { queue } = world.host([hand.handler({ attempts: 2 })])
    await queue.add({ type: 'work', id: 'p', children: [{ type: 'work', id: 'c' }] })
    await world.settle()
    hand.end(0, new Error('no luck'))
    await world.settle()
    expect((await queue.get('p'))?.state).toBe('waiting-children')
    await world.advance(1_000)
    hand.end(1)
    await world.settle()
    expect(hand.ids).toEqual(['c', 'c', 'p'])
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

describe('children that a job adds while it is carried out', () => {
  const children = ['a', 'b'].map((id) => ({ type: 'work', id, data: { of: id } }))

  it('are waited for, and then the job is carried out again', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    const { queue } = world.host([hand.handler()])
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

  it('are not there when it lost its lease meanwhile', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    const { queue } = world.host([hand.handler()])
    await queue.add({ type: 'work', id: 'p' })
    await world.settle()
    await queue.cancel('p')
    hand.end(0, { kind: 'waiting-children', children })
    await world.settle()
    expect([await queue.get('a'), (await queue.get('p'))?.isCancelled]).toEqual([undefined, true])
  })

  it('are refused when the tree would be too large or too deep, which is a failed attempt', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    const { queue } = world.host([hand.handler()])
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
      failedReason: 'its tree would have more than 1000 jobs; make several trees',
    })
  })
})

describe('cancellation', () => {
  it.each(['waiting', 'delayed', 'prioritized'])('ends a job that is %s', async (state) => {
    const world = new JobWorld()
    const hand = new Hand()
    const { queue } = world.host([hand.handler({ isSerial: true })])
    await queue.add({ type: 'work', id: 'first' })
    await world.settle()
    const more = { delayed: { delay: 1_000 }, prioritized: { priority: 1 } }[state] ?? {}
    expect(await queue.add({ type: 'work', id: 'x', ...more })).toMatchObject({ state })
    await queue.cancel('x')
    expect(await queue.get('x')).toMatchObject({
      state: 'failed',
      isCancelled: true,
      failedReason: 'it was cancelled',
      finishedTime: world.now,
    })
    hand.end(0)
    await world.advance(10_000)
    expect(hand.ids).toEqual(['first'])
  })

  it('tells a handler at once, and refuses what it still commits', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    const { queue } = world.host([hand.handler({ attempts: 5 })])
    await queue.add({ type: 'work' })
    await world.settle()
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

  it('ends all that is below, whatever its state, and fails what waits for it', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    const { queue } = world.host([hand.handler({ attempts: 3 })])
    const leaves: readonly NewJob[] = [
      { type: 'work', id: 'runs' },
      { type: 'work', id: 'over' },
      { type: 'work', id: 'retries' },
      { type: 'work', id: 'later', delay: 5_000 },
    ]
    const middle = { type: 'work', id: 'middle', children: leaves }
    await queue.add({ type: 'work', id: 'root', children: [middle, { type: 'work', id: 'aside' }] })
    await world.settle()
    hand.end(hand.ids.indexOf('over'))
    hand.end(hand.ids.indexOf('retries'), new Error('no luck'))
    await world.settle()
    await queue.cancel('middle')
    const states = await Promise.all(
      ['root', 'middle', 'runs', 'over', 'retries', 'later', 'aside'].map(async (id) => {
        const job = await queue.get(id)
        return [id, job?.state, job?.isCancelled === true, job?.failedReason]
      }),
    )
    const why = 'job middle, which it belongs to, was cancelled'
    expect(states).toEqual([
      ['root', 'failed', false, 'its child work middle failed: it was cancelled'],
      ['middle', 'failed', true, 'it was cancelled'],
      ['runs', 'failed', true, why],
      ['over', 'completed', false, undefined],
      ['retries', 'failed', true, why],
      ['later', 'failed', true, why],
      ['aside', 'active', false, undefined],
    ])
    await world.advance(60_000)
    expect(hand.ids.toSorted()).toEqual(['aside', 'over', 'retries', 'runs'])
  })

  it('of what is over is a conflict, of what never was an unknown job', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    const { queue } = world.host([hand.handler()])
    await queue.add({ type: 'work' })
    await world.settle()
    hand.end(0)
    await queue.finished('j1')
    await expect(queue.cancel('j1')).rejects.toThrow('cancel of job j1: it is completed, and would have to be')
    await expect(queue.cancel('x')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
