/** Operations of older versions become jobs, wherever that is interrupted. */
import { describe, expect, it } from 'vitest'
import { adoptOld, type OldHead, type OldOperations, type OldPart } from '../../src/jobs/adopt-old.ts'
import type { Job } from '../../src/jobs/contract.ts'
import { itemHandler } from '../../src/jobs/item-handler.ts'
import type { Store } from '../../src/storage/contract.ts'
import { Mortal } from '../services/resources/commands/support/mortal.ts'
import { JobWorld, NOON, TENANT } from './support/job-world.ts'

interface Head extends OldHead {
  readonly what: string
}

const OLD: OldOperations<Head> = {
  heads: { name: 'old_heads', version: 1, fields: {} },
  parts: { name: 'old_parts', version: 1, fields: {} },
  type: 'work',
  batchSize: 2,
  keepMs: 1_000,
  headOf: ({ what, ...head }) => (what === 'other' ? undefined : { ...head, data: { what } }),
}
const DONE = { statusCode: 200 }
const GONE = { statusCode: 404, error: 'gone' }

async function writeOld(store: Store, more: readonly Head[] = []): Promise<void> {
  const heads: readonly Head[] = [
    { id: 'over', user: 'u', what: 'x', queueTime: NOON - 9, finishedTime: NOON - 5, parts: 2, done: 2 },
    { id: 'open', user: 'u', what: 'y', queueTime: NOON - 7, parts: 3, done: 1 },
    { id: 'fresh', user: 'v', what: 'z', queueTime: NOON - 8, parts: 1, done: 0 },
    { id: 'none', user: 'v', what: 'z', queueTime: NOON - 6, parts: 0, done: 0 },
    { id: 'stays', user: 'v', what: 'other', queueTime: NOON, parts: 0, done: 0 },
    ...more,
  ]
  const parts: readonly (readonly [string, OldPart])[] = [
    ['over/0', { ids: ['a', 'b'], results: [DONE, GONE] }],
    ['over/1', { ids: ['c'], results: [DONE] }],
    ['open/0', { ids: ['d', 'e'], results: [GONE, GONE] }],
    ['open/1', { ids: ['f', 'g'] }],
    ['open/2', { ids: ['h'] }],
    ['fresh/0', { ids: ['i'], bodies: [{ id: 'i', body: 1 }] }],
    ['orphan/0', { ids: ['j'] }],
  ]
  const [to, beside] = [store.collection(OLD.heads), store.collection(OLD.parts)]
  await store.commit([
    ...heads.map((head) => to.putting(head.id, head)),
    ...parts.map(([id, part]) => beside.putting(id, part)),
  ])
}

function handler(seen: string[]) {
  return itemHandler<string | { readonly id: string }>({
    type: 'work',
    isSerial: true,
    batchSize: 2,
    slice: 1,
    keyOf: (item) => (typeof item === 'string' ? item : item.id),
    item: async (item, { job }, isRepeat) => {
      seen.push(`${job.id} ${JSON.stringify(item)}${isRepeat ? ' again' : ''}`)
      return DONE
    },
  })
}

/** The same store, whose calls wait for `thaw` after so many were answered. */
function freezing(store: Store, questions: number): { readonly frozen: Store; readonly thaw: () => void } {
  let left = questions
  let thaw = (): void => undefined
  const thawed = new Promise<void>((resolve) => (thaw = resolve))
  const over = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (of, name) => {
        const value: unknown = Reflect.get(of, name, of)
        if (typeof value !== 'function') return value
        return (...args: readonly unknown[]) => {
          const ask = (): unknown => Reflect.apply(value, of, args) as unknown
          if (name === 'collection') return over(ask() as object)
          if (name === 'putting' || name === 'deleting') return ask()
          return left-- > 0 ? ask() : thawed.then(ask)
        }
      },
    })
  return { frozen: over(store), thaw }
}

/** Starts a host over the store, and holds what it makes of the old operations against what it should. */
async function expectAdopted(world: JobWorld): Promise<void> {
  const store = world.storage.tenant(TENANT)
  const seen: string[] = []
  const { runner, queue } = world.host([handler(seen)])
  await adoptOld(store, OLD)
  expect((await store.collection(OLD.heads).find({})).map(({ id }) => id)).toEqual(['stays'])
  expect(await store.collection(OLD.parts).count()).toBe(0)
  expect(await queue.get('over')).toEqual({
    id: 'over',
    type: 'work',
    state: 'completed',
    data: { what: 'x' },
    user: 'u',
    ancestors: [],
    childrenLeft: 0,
    priority: 0,
    order: (NOON - 9) * 1_000,
    queueTime: NOON - 9,
    attemptsStarted: 1,
    attemptsMade: 1,
    stalls: 0,
    progress: { done: 3, total: 3, ended: { '200': 2, '404': 1 } },
    items: { batches: 2, batchSize: 2 },
    finishedTime: NOON - 5,
    removeTime: NOON - 5 + 1_000,
  })
  expect(await queue.get('open')).toMatchObject({
    state: 'waiting',
    progress: { done: 2, total: 5, ended: { '404': 2 } },
  })
  await runner.start()
  await queue.finished('open')
  await queue.finished('none')
  // as they were queued; the batch that was open may have been done by half
  expect(seen).toEqual(['fresh {"id":"i","body":1} again', 'open "f" again', 'open "g" again', 'open "h"'])
  const outcomes = async (id: string) => {
    const found: Record<string, unknown> = {}
    for await (const [key, outcome] of queue.outcomes((await queue.get(id)) as Job)) found[key] = outcome
    return found
  }
  expect(await outcomes('over')).toEqual({ a: DONE, b: GONE, c: DONE })
  expect(await outcomes('open')).toEqual({ d: GONE, e: GONE, f: DONE, g: DONE, h: DONE })
  expect(await outcomes('fresh')).toEqual({ i: DONE })
  expect(await queue.get('open')).toMatchObject({ progress: { done: 5, total: 5, ended: { '200': 3, '404': 2 } } })
}

describe('operations that an older version stored', () => {
  it('become jobs: finished ones can be asked for, the others go on', async () => {
    const world = new JobWorld()
    await writeOld(world.storage.tenant(TENANT))
    await expectAdopted(world)
  })

  it('become jobs also when the process dies at any question on the way', async () => {
    for (let questions = 0; questions < 40; questions++) {
      const world = new JobWorld()
      await writeOld(world.storage.tenant(TENANT))
      const life = new Mortal()
      life.dieAfter(questions)
      void adoptOld(life.over(world.storage).tenant(TENANT), OLD)
      await world.settle()
      life.kill()
      await world.reopen()
      await expectAdopted(world)
    }
  })

  it('become one job each when two hosts look at once, and one of them is frozen on the way', async () => {
    for (let questions = 0; questions < 40; questions++) {
      const world = new JobWorld()
      const store = world.storage.tenant(TENANT)
      await writeOld(store)
      const { frozen, thaw } = freezing(store, questions)
      const late = adoptOld(frozen, OLD)
      await world.settle()
      await expectAdopted(world)
      thaw()
      await late
      const { queue } = world.host([])
      expect((await queue.counts()).get('completed')).toBe(4)
      // what was done meanwhile is not overwritten
      const batch = await queue.documents.batches.get('open/2')
      expect(batch?.value).toEqual({ items: ['h'], outcomes: [DONE] })
    }
  })

  it('of more than a hundred are all found', async () => {
    const world = new JobWorld()
    const store = world.storage.tenant(TENANT)
    const more = Array.from({ length: 250 }, (_, i) => {
      return { id: `n${i}`, user: 'u', what: 'x', queueTime: NOON + i, finishedTime: NOON + i, parts: 0, done: 0 }
    })
    await writeOld(store, more)
    await adoptOld(store, OLD)
    expect(await world.host([]).queue.counts()).toEqual(
      new Map([
        ['completed', 251],
        ['waiting', 3],
      ]),
    )
  })
})
