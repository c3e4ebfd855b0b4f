/** Hosts that die, freeze or have a wrong clock. */
import { describe, expect, it } from 'vitest'
import { DONE, Hand } from './support/hand.ts'
import { JobWorld, NOON } from './support/job-world.ts'

const LEASE = 15_000

/** A job that the handler of one host runs, and another host. */
async function taken() {
  const world = new JobWorld()
  const [first, second] = [new Hand(), new Hand()]
  const host = world.host([first.handler()])
  const other = world.host([second.handler()])
  await host.queue.add({ type: 'work' })
  await world.settle()
  return { world, first, second, host, other }
}

describe('a job whose host was killed', () => {
  it('resumes at the next start immediately, if one process owns the store', async () => {
    const { world, first, second, host } = await taken()
    await first.context(0).progress({ done: 1, total: 2 })
    host.life.kill()
    await world.reopen()
    const { runner, queue } = world.host([second.handler()])
    await runner.start()
    await world.settle()
    expect(second.ids).toEqual(['j1'])
    expect(second.context(0)).toMatchObject({ isRepeat: true, job: { progress: { done: 1, total: 2 }, stalls: 1 } })
    second.end(0)
    await world.settle()
    expect(await queue.get('j1')).toMatchObject({ state: 'completed', attemptsStarted: 2, attemptsMade: 1 })
  })

  it('is taken over by another host after its lease expires, and not before', async () => {
    const { world, second, host, other } = await taken()
    host.life.kill()
    await other.runner.start()
    await world.advance(LEASE - 1)
    expect(second.ids).toEqual([])
    await world.advance(1)
    expect([second.ids, second.context(0).isRepeat]).toEqual([['j1'], true])
  })

  it('is taken over on time although the clock of the store was set back', async () => {
    const { world, second, host, other } = await taken()
    host.life.kill()
    world.storeSkew = -3_600_000
    await other.runner.start()
    await world.settle()
    expect(second.ids).toEqual(['j1'])
  })

  it('and had not begun it begins elsewhere, and is not marked as a repetition', async () => {
    const world = new JobWorld()
    const host = world.host([new Hand().handler()])
    const adding = await host.queue.adding({ type: 'work' })
    await host.queue.documents.store.commit([...adding.writes])
    host.life.kill()
    const hand = new Hand()
    await world.host([hand.handler()]).runner.start()
    await world.settle()
    expect([hand.ids, hand.context(0).isRepeat]).toEqual([['j1'], false])
  })

  it('fails when it kills every host that acquires it', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    await world.host([hand.handler()]).queue.add({ type: 'work' })
    for (let life = 0; life < 15; life++) {
      await world.settle()
      await world.reopen()
      await world.host([hand.handler()]).runner.start()
    }
    const { queue } = world.host([hand.handler()])
    expect(hand.calls.length).toBe(11)
    const job = await queue.get('j1')
    expect([job?.state, job?.failedReason]).toEqual(['failed', expect.stringContaining('11 times')])
  })
})

describe('a lease', () => {
  it('is renewed while the job makes progress', async () => {
    const { world, first, second, host } = await taken()
    await world.host([second.handler()]).runner.start()
    await world.advance(10 * LEASE)
    expect(second.ids).toEqual([])
    expect((await host.queue.get('j1'))?.lease?.until).toBeGreaterThan(world.now + LEASE / 2)
    first.end(0)
    await world.settle()
    expect(await host.queue.get('j1')).toMatchObject({ state: 'completed', attemptsStarted: 1, stalls: 0 })
    expect(world.timersOf(host), 'no timer of a job that is over').toBe(0)
  })

  it('that expired while its holder was frozen is lost: later writes of the holder are rejected', async () => {
    const { world, first, second, host, other } = await taken()
    await other.runner.start()
    await world.advanceWithout(host.life, LEASE)
    expect(second.ids).toEqual(['j1'])
    const notes = host.queue.documents.store.collection({ name: 'notes', version: 1, fields: {} })
    const late = first.context(0).progress({ done: 1, total: 2 }, [notes.putting('a', {})])
    await expect(late).rejects.toThrow('job j1 has ended or runs on another host')
    expect(first.context(0).signal.aborted).toBe(true)
    first.end(0, { kind: 'completed', result: 'mine', writes: [notes.putting('a', {})] })
    await world.settle()
    expect([await notes.get('a'), (await host.queue.get('j1'))?.state]).toEqual([undefined, 'active'])
    second.end(0, { kind: 'completed', result: 'yours' })
    await world.settle()
    expect(await host.queue.get('j1')).toMatchObject({ state: 'completed', result: 'yours' })
    expect(host.log).toEqual([
      'work job j1 of tenant acme: it was cancelled or taken over by another host; its last changes are not stored',
    ])
  })

  it('that was lost is acquired again by the same host only after its handler has returned', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    const host = world.host([hand.handler()])
    await host.queue.add({ type: 'work' })
    await world.settle()
    // another host found the lease expired, and crashed before it could acquire the job
    const { documents } = world.host([]).queue
    const stored = await documents.jobs.get('j1')
    if (stored === undefined) throw new Error('there is no job')
    await documents.change(stored, { kind: 'stall', now: world.now, keepMs: 1 })
    await host.queue.add({ type: 'work', id: 'other' })
    await world.settle()
    expect(hand.ids).toEqual(['j1', 'other'])
    hand.end(0)
    await world.settle()
    expect(hand.ids).toEqual(['j1', 'other', 'j1'])
    hand.end(2)
    await world.settle()
    expect(await host.queue.get('j1')).toMatchObject({ state: 'completed', attemptsMade: 1 })
  })

  it.each([-3_600_000, 3_600_000])(
    'follows the clock of the store: a host whose clock differs by %i ms takes nothing over',
    async (ms) => {
      const { world, second, host } = await taken()
      world.skew = ms
      await world.host([second.handler()]).runner.start()
      await world.advance(LEASE / 2)
      expect([second.ids, (await host.queue.get('j1'))?.lease?.until]).toEqual([[], NOON + 5_000 + LEASE])
    },
  )

  it('does not block a runner that restarts while the store stays open', async () => {
    const { world, first, second, host } = await taken()
    const stopped = host.runner.stop()
    first.end(0, DONE)
    await stopped
    await world.host([second.handler()]).runner.start()
    await world.settle()
    expect([second.ids, (await host.queue.get('j1'))?.state]).toEqual([[], 'completed'])
  })
})

describe('a job of another host', () => {
  it('is found without a notification where hosts share the store', async () => {
    const world = new JobWorld({ isShared: true })
    const hand = new Hand()
    const other = world.host([hand.handler()])
    await other.runner.start()
    const host = world.host([new Hand().handler()])
    const added = await host.queue.adding({ type: 'work' })
    await host.queue.documents.store.commit([...added.writes])
    host.life.kill()
    await world.advance(2 * LEASE)
    expect(hand.ids).toEqual(['j1'])
  })

  it('that holds the slot of a serial type is waited for', async () => {
    const world = new JobWorld()
    const [first, second] = [new Hand(), new Hand()]
    const host = world.host([first.handler({ isSerial: true })])
    const other = world.host([second.handler({ isSerial: true })])
    await host.queue.add({ type: 'work', id: 'a' })
    await world.settle()
    await other.queue.add({ type: 'work', id: 'b' })
    await world.settle()
    expect([first.ids, second.ids]).toEqual([['a'], []])
    host.life.kill()
    await world.advance(LEASE)
    expect(second.ids).toEqual(['a'])
    second.end(0)
    await world.settle()
    expect(second.ids).toEqual(['a', 'b'])
  })
})
