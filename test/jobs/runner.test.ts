import { describe, expect, it, vi } from 'vitest'
import type { JobHandler } from '../../src/jobs/contract.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { begun, DONE, Hand, handed } from './support/hand.ts'
import { eventsOf, JobWorld, NOON } from './support/job-world.ts'

/** A handler that completes at once, and records the order of its calls. */
function quick(more: Partial<JobHandler> = {}): { readonly handler: JobHandler; readonly seen: string[] } {
  const seen: string[] = []
  const run: JobHandler['run'] = ({ job }) => {
    seen.push(job.id)
    return Promise.resolve(DONE)
  }
  return { seen, handler: { type: 'work', run, ...more } }
}

describe('a job', () => {
  it('waits, runs, and ends with the result of its handler', async () => {
    const { world, hand, queue } = handed()
    const added = await queue.add({ type: 'work', data: { a: 1 }, user: 'tester', labels: ['x'] })
    expect(added).toMatchObject({ id: 'j1', state: 'waiting', data: { a: 1 }, queueTime: NOON, attemptsMade: 0 })
    await world.settle()
    expect(await queue.get('j1')).toMatchObject({ state: 'active', lease: { until: NOON + 15_000 } })
    world.now += 5
    hand.end(0, { kind: 'completed', result: { b: 2 } })
    await queue.finished('j1')
    expect(await queue.get('j1')).toMatchObject({
      state: 'completed',
      user: 'tester',
      labels: ['x'],
      result: { b: 2 },
      processedTime: NOON,
      finishedTime: NOON + 5,
      attemptsMade: 1,
      attemptsStarted: 1,
    })
    expect(await eventsOf(queue)).toEqual([
      { position: 1, event: 'waiting', job: 'j1', type: 'work', ancestors: [], time: NOON },
      { position: 2, event: 'active', prev: 'waiting', job: 'j1', type: 'work', ancestors: [], time: NOON },
      {
        position: 3,
        event: 'completed',
        prev: 'active',
        job: 'j1',
        type: 'work',
        ancestors: [],
        time: NOON + 5,
        result: { b: 2 },
      },
    ])
  })

  it('runs in the order in which it was added, also within a millisecond, and before jobs with a priority', async () => {
    const world = new JobWorld()
    const { handler, seen } = quick({ isSerial: true })
    const { queue, runner } = world.host([handler])
    const ids = ['urgent', 'b', 'late', 'c', 'a', 'urgent2']
    const priorities: Record<string, number> = { urgent: 1, late: 2, urgent2: 1 }
    const added = ids.map(async (id) => queue.adding({ type: 'work', id, priority: priorities[id] ?? 0 }))
    // all at once, so that none starts before the others exist
    const all = await Promise.all(added)
    await queue.documents.store.commit(all.flatMap(({ writes }) => writes))
    for (const one of all) queue.added(one)
    expect((await queue.get('urgent'))?.state).toBe('prioritized')
    await world.settle()
    await runner.idle()
    expect(seen).toEqual(['b', 'c', 'a', 'urgent', 'urgent2', 'late'])
  })

  it('with a delay begins when the delay is over', async () => {
    const world = new JobWorld()
    const { handler, seen } = quick()
    const { queue } = world.host([handler])
    await queue.add({ type: 'work', delay: 60_000 })
    await world.advance(59_999)
    expect([seen, (await queue.get('j1'))?.state]).toEqual([[], 'delayed'])
    await world.advance(1)
    expect([seen, (await queue.get('j1'))?.state]).toEqual([['j1'], 'completed'])
    expect((await eventsOf(queue)).map(({ event }) => event)).toEqual(['delayed', 'waiting', 'active', 'completed'])
  })

  it('that was committed with another write begins as soon as it is reported', async () => {
    const world = new JobWorld()
    const { handler, seen } = quick()
    const { queue } = world.host([handler])
    const added = await queue.adding({ type: 'work' })
    await world.settle()
    expect(await queue.get('j1')).toBe(undefined)
    await queue.documents.store.commit([...added.writes])
    queue.added(added)
    await world.settle()
    expect(seen).toEqual(['j1'])
  })
})

describe('an attempt that fails', () => {
  it('is retried with growing delays until one succeeds', async () => {
    const { world, hand, queue, log } = handed({ attempts: 9, backoff: { delay: 1_000, most: 5_000 } })
    await queue.add({ type: 'work' })
    const pauses: number[] = []
    for (let call = 0; call < 5; call++) {
      await world.settle()
      hand.end(call, new Error(`no luck ${call}`))
      await world.settle()
      const job = await queue.get('j1')
      expect(job).toMatchObject({ state: 'delayed', attemptsMade: call + 1, failedReason: `no luck ${call}` })
      pauses.push((job?.dueTime ?? 0) - world.now)
      await world.advance(pauses.at(-1) ?? 0)
    }
    for (const [i, most] of [1_000, 2_000, 4_000, 5_000, 5_000].entries()) {
      expect(pauses[i]).toBeGreaterThanOrEqual(most / 2)
      expect(pauses[i]).toBeLessThanOrEqual(most)
    }
    expect(new Set(pauses.map((pause) => pause % 1_000)).size, 'they are spread').toBeGreaterThan(3)
    hand.end(5)
    await world.settle()
    expect(await queue.get('j1')).toMatchObject({ state: 'completed', attemptsMade: 6, attemptsStarted: 6 })
    expect(hand.calls.map(({ context }) => context.isRepeat)).toEqual([false, true, true, true, true, true])
    expect(log[0]).toMatch(/^work job j1 of tenant acme: no luck 0; retrying in \d+ ms$/)
  })

  it('is retried on time although the clock of the store was set back', async () => {
    const { world, hand, queue } = handed({ attempts: 2, backoff: { delay: 1_000, most: 5_000 } })
    await queue.add({ type: 'work' })
    await queue.add({ type: 'work', delay: 60_000 })
    await world.settle()
    hand.end(0, new Error('no luck'))
    await world.settle()
    world.storeSkew = -3_600_000
    await world.advance(1_000)
    expect(await queue.get('j1')).toMatchObject({ state: 'active' })
    hand.end(1)
    await world.settle()
    expect([(await queue.get('j1'))?.state, (await queue.get('j2'))?.state]).toEqual(['completed', 'delayed'])
  })

  it('fails the job if it was the last', async () => {
    const { world, hand, queue, log } = await begun({ attempts: 2 })
    hand.end(0, new Error('no luck'))
    await world.advance(1_000)
    hand.end(1, new Error('none again'))
    await world.settle()
    expect(await queue.get('j1')).toMatchObject({
      state: 'failed',
      failedReason: 'none again',
      attemptsMade: 2,
      finishedTime: NOON + 1_000,
    })
    expect(log.at(-1)).toBe('work job j1 of tenant acme: failed: none again')
    await world.advance(600_000)
    expect(hand.calls).toHaveLength(2)
  })

  it('because the store was unavailable is never the last one', async () => {
    const { world, hand, queue } = await begun({ attempts: 2 })
    for (let call = 0; call < 4; call++) {
      hand.end(call, new AppError('UNAVAILABLE', 'the store is unavailable'))
      await world.settle()
      expect(await queue.get('j1')).toMatchObject({ state: 'delayed', attemptsMade: 1 })
      await world.advance(2_000)
    }
    hand.end(4)
    await world.settle()
    expect(await queue.get('j1')).toMatchObject({ state: 'completed', attemptsMade: 2 })
  })

  it('permanently is not retried', async () => {
    const { world, hand, queue } = await begun({ attempts: 5 })
    hand.end(0, { kind: 'failed', reason: 'there is no such thing' })
    await world.advance(600_000)
    expect(hand.calls).toHaveLength(1)
    expect(await queue.get('j1')).toMatchObject({ state: 'failed', failedReason: 'there is no such thing' })
  })

  it('because something shuts down does not count', async () => {
    const { world, hand, queue } = await begun()
    hand.end(0, new AppError('CLOSED', 'the engine starts later'))
    await world.settle()
    expect(await queue.get('j1')).toMatchObject({ state: 'delayed', attemptsMade: 0 })
    await world.advance(2_000)
    hand.end(1)
    await world.settle()
    expect(await queue.get('j1')).toMatchObject({ state: 'completed', attemptsMade: 1 })
  })

  it('is also one whose last writes are rejected, and none of them is stored', async () => {
    const { world, hand, queue } = handed()
    const notes = queue.documents.store.collection({ name: 'notes', version: 1, fields: {} })
    await notes.put('a', { by: 'somebody' })
    await queue.add({ type: 'work' })
    await world.settle()
    const writes = [notes.putting('b', { by: 'job' }), notes.putting('a', { by: 'job' }, 'absent')]
    hand.end(0, { kind: 'completed', writes })
    await world.settle()
    const job = await queue.get('j1')
    expect([job?.state, job?.failedReason]).toEqual(['failed', expect.stringContaining('notes/a')])
    expect([(await notes.get('a'))?.value, await notes.get('b')]).toEqual([{ by: 'somebody' }, undefined])
  })
})

describe('the jobs of a type', () => {
  it('that is serial run one after the other, on any number of hosts', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    const hosts = [0, 1].map(() => world.host([hand.handler({ isSerial: true })]))
    const ids = ['a', 'b', 'c', 'd', 'e']
    for (const [i, id] of ids.entries()) await hosts[i % 2]?.queue.add({ type: 'work', id })
    for (const i of ids.keys()) {
      await world.settle()
      expect(hand.ids).toEqual(ids.slice(0, i + 1))
      hand.end(i)
    }
  })

  it('are limited per host to the number that it declares', async () => {
    const { world, hand, runner, queue } = handed({ concurrency: 2 })
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await queue.add({ type: 'work', id })
    await world.settle()
    for (let ended = 0; ended < 6; ended++) {
      expect(hand.calls).toHaveLength(Math.min(6, ended + 2))
      hand.end(ended)
      await world.settle()
    }
    await runner.idle()
    expect(new Set(hand.ids).size).toBe(6)
  })
})

describe('a runner', () => {
  it.each(Array.from({ length: 12 }, (_, i) => i))(
    'misses no job that is added %i steps after its last poll',
    async (steps) => {
      const world = new JobWorld()
      const { handler, seen } = quick()
      const { queue } = world.host([handler])
      const { jobs, store } = queue.documents
      const added = await queue.adding({ type: 'work', id: 'b' })
      const count = jobs.count.bind(jobs)
      let isLast = true
      vi.spyOn(jobs, 'count').mockImplementation(async (where) => {
        const counted = await count(where)
        if (!isLast || seen.length === 0) return counted
        isLast = false
        const adding = async (): Promise<void> => {
          await store.commit([...added.writes])
          for (let i = 0; i < steps; i++) await Promise.resolve()
          queue.added(added)
        }
        void adding()
        return counted
      })
      await queue.add({ type: 'work', id: 'a' })
      await world.settle()
      expect(seen).toEqual(['a', 'b'])
    },
  )

  it('counts the jobs that have not ended', async () => {
    const { world, hand, queue, runner } = handed({ isSerial: true })
    for (const id of ['a', 'b']) await queue.add({ type: 'work', id })
    await world.settle()
    expect(runner.open).toBe(2)
    hand.end(0)
    await world.settle()
    hand.end(1)
    await world.settle()
    expect(runner.open).toBe(0)
  })

  it('that stops returns its jobs, and acquires no more', async () => {
    const { world, hand, queue, runner } = handed({ isSerial: true })
    for (const id of ['a', 'b']) await queue.add({ type: 'work', id })
    await world.settle()
    const finished = queue.finished('a')
    const stopped = runner.stop()
    expect(hand.context(0).signal.aborted).toBe(true)
    await finished
    hand.end(0, { kind: 'released' })
    await stopped
    expect(await queue.get('a')).toMatchObject({ state: 'waiting', attemptsMade: 0 })
    expect(hand.ids).toEqual(['a'])
    await expect(queue.add({ type: 'work' })).rejects.toMatchObject({ code: 'CLOSED' })
    const next = new Hand()
    await world.host([next.handler({ isSerial: true })]).runner.start()
    await world.settle()
    expect([next.ids, next.context(0).isRepeat]).toEqual([['a'], true])
  })

  it('returns a job whose handler throws because it was asked to stop', async () => {
    const { hand, queue, runner } = await begun()
    const stopped = runner.stop()
    hand.end(0, new Error('aborted'))
    await stopped
    expect(await queue.get('j1')).toMatchObject({ state: 'waiting', attemptsMade: 0 })
  })

  it('ignores jobs without a handler', async () => {
    const world = new JobWorld()
    await world.host([new Hand('other').handler()]).queue.add({ type: 'other' })
    await world.reopen()
    const { handler } = quick()
    const { runner, queue } = world.host([handler])
    await runner.start()
    await world.advance(60_000)
    expect((await queue.get('j1'))?.state).toMatch(/^(?:waiting|active)$/)
  })
})
