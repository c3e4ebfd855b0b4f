import { describe, expect, it } from 'vitest'
import { KEPT_EVENTS } from '../../src/jobs/job-documents.ts'
import { JOB_BATCHES, JOBS } from '../../src/jobs/job-record.ts'
import { itemHandler } from '../../src/jobs/item-handler.ts'
import type { PlacedEvent } from '../../src/jobs/job-queue.ts'
import { DONE, Hand, handed } from './support/hand.ts'
import { JobWorld, NOON, TENANT } from './support/job-world.ts'

const quick = (type = 'work') => ({ type, run: () => Promise.resolve(DONE) })

describe('a new job', () => {
  it('is rejected with all problems at once', async () => {
    const { queue } = new JobWorld().host([quick()])
    const wrong = {
      type: 'nothing',
      id: '',
      labels: ['fine', ''],
      priority: -1,
      delay: 0.5,
      children: [{ type: 'work', priority: 1.5, children: [{ type: 'other', labels: Array<string>(21).fill('x') }] }],
    }
    const refusal = await queue.add(wrong).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'VALIDATION' })
    expect((refusal as { issues: readonly { path: string; message: string; suggestion: string }[] }).issues).toEqual(
      [
        ['/type', '"nothing" does not have a handler', 'use one of work'],
        ['/id', '"" is not a valid id', 'use 1 to 200 characters'],
        ['/labels/1', '"" is not a valid label', 'use 1 to 200 characters'],
        ['/priority', '-1 is not a valid priority', 'use a whole number from 0 to 2097152'],
        ['/delay', '0.5 is not a valid delay', 'use ms, at most ten years'],
        ['/delay', 'a job with children cannot have a delay', 'delay the children'],
        ['/children/0/priority', '1.5 is not a valid priority', 'use a whole number from 0 to 2097152'],
        ['/children/0/children/0/type', '"other" does not have a handler', 'use one of work'],
        ['/children/0/children/0/labels', '21 labels are too many', 'use at most 20'],
      ].map(([path, message, suggestion]) => ({ type: 'JOB', severity: 'ERROR', path, message, suggestion })),
    )
    expect(await queue.list()).toEqual([])
  })

  it.each([
    ['wide', { type: 'work', children: Array.from({ length: 1_000 }, () => ({ type: 'work' })) }, '1001 jobs'],
    ['deep', deep(11), 'at most 10 generations'],
  ])('is rejected when its tree is too %s', async (_how, job, words) => {
    const { queue } = new JobWorld().host([quick()])
    await expect(queue.add(job)).rejects.toThrow(words)
  })

  it('whose id exists is a conflict, and so is an id that occurs twice in its tree', async () => {
    const world = new JobWorld()
    const { queue } = world.host([quick()])
    await queue.add({ type: 'work', id: 'a' })
    await expect(queue.add({ type: 'work', id: 'a' })).rejects.toMatchObject({ code: 'CONFLICT' })
    const twice = {
      type: 'work',
      id: 'p',
      children: [
        { type: 'work', id: 'b' },
        { type: 'work', id: 'b' },
      ],
    }
    await expect(queue.add(twice)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await queue.get('p')).toBe(undefined)
  })
})

function deep(generations: number): { type: string; children?: ReturnType<typeof deep>[] } {
  return generations === 1 ? { type: 'work' } : { type: 'work', children: [deep(generations - 1)] }
}

describe('a list of jobs', () => {
  it('returns the matching jobs, newest first, and counts them by state', async () => {
    const world = new JobWorld()
    const hand = new Hand('slow')
    const { queue } = world.host([quick(), hand.handler()])
    await queue.add({ type: 'work', id: 'a', labels: ['fn:x', 'plug'] })
    await world.advance(1_000)
    await queue.add({ type: 'slow', id: 'b', labels: ['fn:x'] })
    await queue.add({ type: 'slow', id: 'c', delay: 9_000 })
    await world.settle()
    const ids = async (filter: Parameters<typeof queue.list>[0]) => (await queue.list(filter)).map(({ id }) => id)
    expect(await ids({})).toEqual(['c', 'b', 'a'])
    expect(await ids({ limit: 2 })).toEqual(['c', 'b'])
    expect(await ids({ types: ['work'] })).toEqual(['a'])
    expect(await ids({ types: ['work', 'slow'], states: ['active', 'completed'] })).toEqual(['b', 'a'])
    expect(await ids({ label: 'fn:x' })).toEqual(['b', 'a'])
    expect(await ids({ createdAfter: NOON })).toEqual(['c', 'b'])
    expect(await ids({ createdBefore: NOON + 1 })).toEqual(['a'])
    expect(await queue.counts()).toEqual(
      new Map([
        ['active', 1],
        ['completed', 1],
        ['delayed', 1],
      ]),
    )
    expect(await queue.counts({ types: ['slow'] })).toEqual(
      new Map([
        ['active', 1],
        ['delayed', 1],
      ]),
    )
  })
})

describe('a job that has ended', () => {
  const DAY = 86_400_000
  const items = itemHandler<string>({ type: 'items', batchSize: 2, slice: 2, item: async () => ({ statusCode: 200 }) })

  it('is deleted with its items when its retention is over', async () => {
    const world = new JobWorld()
    const { queue } = world.host([{ ...items, keepMs: DAY }, quick()])
    await queue.add({ type: 'items', id: 'a', items: ['x', 'y', 'z'] })
    await queue.finished('a')
    const store = world.storage.tenant(TENANT)
    expect(await store.collection(JOB_BATCHES).count()).toBe(2)
    await world.advance(DAY - 1)
    await queue.removeOld()
    expect(await queue.get('a')).toBeDefined()
    await world.advance(1)
    await queue.add({ type: 'work', id: 'b' })
    expect([await queue.get('a'), await store.collection(JOB_BATCHES).count()]).toEqual([undefined, 0])
  })

  it('stays for seven days by default', async () => {
    const world = new JobWorld()
    const { queue } = world.host([quick()])
    await queue.add({ type: 'work' })
    await queue.finished('j1')
    await world.advance(7 * DAY - 1)
    await queue.removeOld()
    expect(await queue.get('j1')).toBeDefined()
    await world.advance(1)
    await queue.removeOld()
    expect(await queue.get('j1')).toBe(undefined)
  })

  it('is deleted with its whole tree, and not while a job of the tree is running', async () => {
    const { world, hand, queue } = handed({ keepMs: DAY })
    const children = ['a', 'b'].map((id) => ({ type: 'work', id }))
    await queue.add({ type: 'work', id: 'p', children })
    await world.settle()
    hand.end(0, { kind: 'failed', reason: 'broken' })
    await world.advance(DAY)
    await queue.removeOld()
    expect(await queue.list()).toHaveLength(3)
    hand.end(1)
    await world.settle()
    await queue.removeOld()
    expect(await world.storage.tenant(TENANT).collection(JOBS).count()).toBe(0)
  })
})

describe('waiting for the end of a job', () => {
  it('resolves also when another host ends it, or when the job does not exist', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    const one = world.host([hand.handler()])
    const two = world.host([hand.handler()])
    await one.queue.add({ type: 'work' })
    await world.settle()
    let isOver = false
    const finished = two.queue.finished('j1').then(() => (isOver = true))
    hand.end(0)
    await world.settle()
    expect(isOver).toBe(false)
    await world.advance(1_000)
    await finished
    await two.queue.finished('unknown')
    expect(world.timersOf(two)).toBe(0)
  })
})

describe('events', () => {
  it('are delivered in order to a reader that resumes at its position, also from other hosts', async () => {
    const world = new JobWorld()
    const [one, two] = [world.host([quick()]), world.host([quick()])]
    await one.queue.add({ type: 'work' })
    await one.queue.finished('j1')
    const seen: PlacedEvent[] = []
    const ending = new AbortController()
    const reading = (async () => {
      for await (const event of two.queue.events({ after: 1, signal: ending.signal })) seen.push(event)
    })()
    await world.settle()
    expect(seen.map(({ position, event }) => [position, event])).toEqual([
      [2, 'active'],
      [3, 'completed'],
    ])
    await one.queue.add({ type: 'work' })
    await world.advance(1_000)
    expect(seen.map(({ position }) => position)).toEqual([2, 3, 4, 5, 6])
    ending.abort()
    await reading
    expect(world.timersOf(two)).toBe(0)
  })

  it('begin now without a position, or with one of another process, and end when the host stops', async () => {
    const world = new JobWorld()
    const { queue, runner } = world.host([quick()])
    await queue.add({ type: 'work' })
    await queue.finished('j1')
    const seen: PlacedEvent[] = []
    const { signal } = new AbortController()
    const reading = [{ signal }, { signal, after: 99 }].map(async (options) => {
      for await (const event of queue.events(options)) seen.push(event)
    })
    await world.settle()
    await queue.add({ type: 'work' })
    await queue.finished('j2')
    await world.settle()
    expect(seen.map(({ position }) => position).toSorted((a, b) => a - b)).toEqual([4, 4, 5, 5, 6, 6])
    await runner.stop()
    await Promise.all(reading)
  })

  it('are kept in a bounded number', async () => {
    const world = new JobWorld()
    const { queue } = world.host([])
    const { documents } = queue
    const added = await world.host([quick()]).queue.adding({ type: 'work' })
    await documents.store.commit([...added.writes])
    let stored = await documents.jobs.get('j1')
    if (stored === undefined) throw new Error('there is no job')
    stored = await documents.change(stored, { kind: 'take', lease: { until: world.now }, now: world.now })
    for (let done = 0; done < KEPT_EVENTS + 2_500; done++) {
      stored = await documents.change(stored, { kind: 'progress', progress: { done, total: 1 } })
    }
    const { first, last } = await documents.log.bounds()
    expect(last).toBe(KEPT_EVENTS + 2_502)
    expect(last - first).toBeGreaterThanOrEqual(KEPT_EVENTS - 1)
    expect(last - first).toBeLessThan(KEPT_EVENTS + 1_000)
  })
})
