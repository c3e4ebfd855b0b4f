import { describe, expect, it } from 'vitest'
import type { Job, JobHandler } from '../../src/jobs/contract.ts'
import { itemHandler, type ItemHandler } from '../../src/jobs/item-handler.ts'
import { JOB_BATCHES } from '../../src/jobs/job-record.ts'
import type { JobQueue } from '../../src/jobs/job-queue.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { JobWorld } from './support/job-world.ts'

const upTo = (n: number) => Array.from({ length: n }, (_, i) => `i${i}`)

/** Items passed to the handler, with `again` for repetitions. */
function noting(seen: string[], more: Partial<ItemHandler<string>> = {}): JobHandler {
  return itemHandler<string>({
    type: 'work',
    batchSize: 10,
    slice: 4,
    item: (id, _context, isRepeat) => {
      seen.push(isRepeat ? `${id} again` : id)
      return Promise.resolve({ statusCode: 200 })
    },
    ...more,
  })
}

async function outcomes(queue: JobQueue, id: string): Promise<readonly unknown[]> {
  const found: unknown[] = []
  for await (const one of queue.outcomes((await queue.get(id)) as Job)) found.push(one)
  return found
}

describe('a job with items', () => {
  it('processes each item in order, and stores its result', async () => {
    const world = new JobWorld()
    const seen: string[] = []
    const handler = noting(seen, {
      slice: 1,
      item: async (id) => {
        seen.push(id)
        return id.endsWith('3') ? { statusCode: 404, error: `no ${id}` } : { statusCode: 204 }
      },
    })
    const { queue } = world.host([handler])
    const added = await queue.add({ type: 'work', items: upTo(25) })
    expect(added).toMatchObject({ items: { batches: 3, batchSize: 10 }, progress: { done: 0, total: 25 } })
    await queue.finished('j1')
    expect(seen).toEqual(upTo(25))
    expect(await queue.get('j1')).toMatchObject({
      state: 'completed',
      progress: { done: 25, total: 25, ended: { '204': 22, '404': 3 } },
    })
    const found = await outcomes(queue, 'j1')
    expect(found).toHaveLength(25)
    expect(found.slice(12, 14)).toEqual([
      ['i12', { statusCode: 204 }],
      ['i13', { statusCode: 404, error: 'no i13' }],
    ])
  })

  it('completes without items', async () => {
    const world = new JobWorld()
    const { queue } = world.host([noting([])])
    await queue.add({ type: 'work', items: [] })
    await queue.finished('j1')
    expect(await queue.get('j1')).toMatchObject({ state: 'completed', progress: { done: 0, total: 0 } })
    expect(await outcomes(queue, 'j1')).toEqual([])
  })

  it('stores the results of items whose keys are not texts', async () => {
    const world = new JobWorld()
    const handler = itemHandler<{ readonly id: string; readonly body: string }>({
      type: 'work',
      slice: 2,
      keyOf: ({ id }) => id,
      item: ({ body }) => Promise.resolve({ statusCode: body.length }),
    })
    const { queue } = world.host([handler])
    await queue.add({
      type: 'work',
      items: [
        { id: 'a', body: 'x' },
        { id: 'b', body: 'xyz' },
      ],
    })
    await queue.finished('j1')
    expect(await outcomes(queue, 'j1')).toEqual([
      ['a', { statusCode: 1 }],
      ['b', { statusCode: 3 }],
    ])
    expect((await queue.documents.store.collection(JOB_BATCHES).get('j1/0'))?.value.items).toEqual(['a', 'b'])
  })

  it('yields to other jobs between slices, and reports its progress after each batch', async () => {
    const world = new JobWorld()
    let most = 0
    let underWay = 0
    const handler = noting([], {
      item: async () => {
        most = Math.max(most, ++underWay)
        await Promise.resolve()
        underWay--
        return { statusCode: 200 }
      },
    })
    const { queue } = world.host([handler])
    const events = queue.events({ signal: AbortSignal.timeout(60_000) })
    const next = events.next()
    await queue.add({ type: 'work', items: upTo(25) })
    const told: unknown[] = []
    for (let event = await next; event.done !== true; event = await events.next()) {
      told.push(event.value.progress?.done ?? event.value.event)
      if (event.value.event === 'completed') break
    }
    expect(told).toEqual(['waiting', 'active', 10, 20, 'completed'])
    expect(most).toBe(4)
  })

  it('resumes after a crash with the batch that was open, whose items are marked as repetitions', async () => {
    const world = new JobWorld()
    const [first, second]: [string[], string[]] = [[], []]
    const host = world.host([
      noting(first, {
        slice: 1,
        item: async (id) => {
          first.push(id)
          if (id === 'i13') {
            host.life.kill()
            await new Promise(() => undefined)
          }
          return { statusCode: 200 }
        },
      }),
    ])
    await host.queue.add({ type: 'work', items: upTo(25) })
    await world.settle()
    await world.settle()
    expect(first).toEqual(upTo(14))
    await world.reopen()
    const { queue, runner } = world.host([noting(second)])
    await runner.start()
    await queue.finished('j1')
    const again = upTo(20).slice(10)
    expect(second).toEqual([...again.map((id) => `${id} again`), ...upTo(25).slice(20)])
    expect(await queue.get('j1')).toMatchObject({ progress: { done: 25, total: 25, ended: { '200': 25 } } })
  })

  it('finishes the slice in progress when it is cancelled', async () => {
    const world = new JobWorld()
    const seen: string[] = []
    const { queue, runner } = world.host([
      noting(seen, {
        item: async (id) => {
          seen.push(id)
          if (id === 'i12') void runner.stop()
          return { statusCode: 200 }
        },
      }),
    ])
    await queue.add({ type: 'work', items: upTo(25) })
    await world.settle()
    await runner.stop()
    expect(seen).toEqual(upTo(14))
    expect(await queue.get('j1')).toMatchObject({ state: 'waiting', progress: { done: 10 } })
  })

  it('retries a batch after an item throws', async () => {
    const world = new JobWorld()
    let isBroken = true
    const seen: string[] = []
    const handler = noting(seen, {
      attempts: 2,
      slice: 1,
      item: async (id, _context, isRepeat) => {
        if (id === 'i11' && isBroken) throw new AppError('STORE', 'no room on the disk')
        seen.push(isRepeat ? `${id} again` : id)
        return { statusCode: 200 }
      },
    })
    const { queue } = world.host([handler])
    await queue.add({ type: 'work', items: upTo(12) })
    await world.settle()
    await world.settle()
    expect(await queue.get('j1')).toMatchObject({ state: 'delayed', failedReason: 'no room on the disk' })
    isBroken = false
    await world.advance(1_000)
    expect(seen).toEqual([...upTo(11), 'i10 again', 'i11 again'])
    expect((await queue.get('j1'))?.state).toBe('completed')
  })

  it('reports items that were never reached as without a result', async () => {
    const world = new JobWorld()
    const handler = noting([], {
      item: async (id) => {
        if (id === 'i11') throw new Error('broken')
        return { statusCode: 200 }
      },
    })
    const { queue } = world.host([handler])
    await queue.add({ type: 'work', items: upTo(12) })
    await queue.finished('j1')
    expect(await queue.get('j1')).toMatchObject({ state: 'failed', failedReason: 'broken', progress: { done: 10 } })
    expect((await outcomes(queue, 'j1')).slice(9)).toEqual([
      ['i9', { statusCode: 200 }],
      ['i10', undefined],
      ['i11', undefined],
    ])
  })

  it('fails when a batch of its items is missing', async () => {
    const world = new JobWorld()
    const { queue } = world.host([noting([])])
    const added = await queue.adding({ type: 'work', items: upTo(12) })
    await queue.documents.store.commit([...added.writes])
    await queue.documents.batches.delete('j1/1')
    queue.added(added)
    await queue.finished('j1')
    expect(await queue.get('j1')).toMatchObject({
      state: 'failed',
      failedReason: 'batch 1 of its items is missing in the store',
    })
  })

  it('with more items than fit into one commit is stored in several', async () => {
    const world = new JobWorld()
    const seen: string[] = []
    const { queue } = world.host([noting(seen, { slice: 10 })])
    const added = await queue.adding({ type: 'work', items: upTo(450) })
    expect(added.writes.filter(({ kind }) => kind === 'put').length).toBeLessThanOrEqual(21)
    await queue.documents.store.commit([...added.writes])
    queue.added(added)
    await queue.finished('j1')
    expect(seen).toEqual(upTo(450))
  })
})
