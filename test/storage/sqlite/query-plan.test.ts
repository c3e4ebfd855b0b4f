/** Tests collections so large that queries walk an index in order, or scan; results equal those of a plain filter. */
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Collection, CollectionSpec, Condition, Query, Storage } from '../../../src/storage/contract.ts'
import { compareValues } from '../../../src/storage/order.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { some } from '../../support/arbitraries/runs.ts'
import { temporaryFolder } from './sqlite-medium.ts'
import { asks } from '../../contracts/storage/asks.ts'

interface Job {
  readonly status: string
  readonly kind: string | undefined
  readonly rank: number | undefined
  readonly tags: readonly string[]
}

const JOBS: CollectionSpec<Job> = {
  name: 'jobs',
  version: 1,
  fields: {
    status: { type: 'text', of: (job) => job.status },
    kind: { type: 'text', of: (job) => job.kind },
    rank: { type: 'number', of: (job) => job.rank },
    tags: { type: 'texts', of: (job) => job.tags },
  },
}

/** The same documents, with lists of fields that queries combine. */
const TOGETHER: CollectionSpec<Job> = { ...JOBS, name: 'jobs_together', together: [['status', 'kind', 'rank']] }

/** The same, usually listed by rank: lists of texts and ranges of kinds follow that order. */
const RANKED: CollectionSpec<Job> = {
  ...JOBS,
  name: 'jobs_ranked',
  fields: { ...JOBS.fields, note: { type: 'text', of: noteOf, only: 'contains' } },
  together: [
    ['status', 'rank'],
    ['kind', 'status', 'rank'],
    ['rank', 'status', 'kind'],
  ],
}

function noteOf({ status, kind }: Job): string | undefined {
  return kind === undefined ? undefined : `${status} is the ${kind.toUpperCase()}`
}

/** Enough that a half, a third or a quarter of the documents is more than the planner counts. */
const COUNT = 22_000
const jobs = new Map(
  Array.from({ length: COUNT }, (_, i): [string, Job] => [
    `j${String((i * 7919) % COUNT).padStart(5, '0')}`,
    {
      status: i % 2 === 0 ? 'running' : 'stopped',
      kind: i % 11 === 0 ? undefined : `kind-${i % 3}`,
      rank: i % 5 === 0 ? undefined : (i * 31) % 1_000,
      tags: i % 4 === 0 ? ['all', 'some'] : ['all'],
    },
  ]),
)

let folder = ''
let storage: Storage
let collection: Collection<Job>
let together: Collection<Job>
let ranked: Collection<Job>
beforeAll(async () => {
  folder = temporaryFolder()
  storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  const store = storage.tenant('acme')
  collection = store.collection(JOBS)
  together = store.collection(TOGETHER)
  ranked = store.collection(RANKED)
  const collections = [collection, together, ranked]
  const writes = [...jobs].flatMap(([id, job]) => collections.map((one) => one.putting(id, job)))
  for (let i = 0; i < writes.length; i += 2_000) await store.commit(writes.slice(i, i + 2_000))
  for (const spec of [JOBS, TOGETHER, RANKED]) {
    await storage
      .tenant('other')
      .collection(spec)
      .put('j00000', { status: 'running', kind: 'kind-0', rank: 1, tags: ['all'] })
  }
})
afterAll(async () => {
  await storage.close()
  rmSync(folder, { recursive: true })
})

type Filter = (job: Job, id: string) => boolean
const FILTERS: readonly (readonly [string, readonly Condition[], Filter])[] = [
  ['nothing asked', [], () => true],
  ['half of them', [asks('status', 'eq', 'running')], (job) => job.status === 'running'],
  [
    'two that leave many',
    [asks('status', 'eq', 'running'), asks('kind', 'eq', 'kind-1')],
    (job) => job.status === 'running' && job.kind === 'kind-1',
  ],
  [
    'many and few',
    [asks('status', 'eq', 'running'), asks('rank', 'eq', 12)],
    (job) => job.status === 'running' && job.rank === 12,
  ],
  [
    'two that exclude each other',
    [asks('tags', 'eq', 'some'), asks('status', 'eq', 'stopped')],
    (job) => job.tags.includes('some') && job.status === 'stopped',
  ],
  ['a list that leaves all', [asks('tags', 'eq', 'all')], () => true],
  [
    'a list, a range and what does not exist',
    [
      asks('tags', 'in', ['some', 'none']),
      asks('rank', 'gte', 10),
      asks('rank', 'lt', 900),
      asks('kind', 'exists', false),
    ],
    (job) => job.tags.includes('some') && (job.rank ?? -1) >= 10 && (job.rank ?? 999) < 900 && job.kind === undefined,
  ],
  [
    'one of two',
    [{ any: [[asks('kind', 'eq', 'kind-2')], [asks('rank', 'gt', 990)]] }],
    (job) => job.kind === 'kind-2' || (job.rank ?? 0) > 990,
  ],
  [
    'part of a text and the beginning of an id',
    [asks('kind', 'contains', 'ND-1'), asks('id', 'startsWith', 'j01')],
    (job, id) => job.kind === 'kind-1' && id.startsWith('j01'),
  ],
  [
    'two that leave many, and a part of the third',
    [asks('kind', 'eq', 'kind-1'), asks('rank', 'lt', 700), asks('status', 'eq', 'running')],
    (job) => job.status === 'running' && job.kind === 'kind-1' && (job.rank ?? 999) < 700,
  ],
  [
    'three of which two contradict each other',
    [asks('status', 'eq', 'running'), asks('kind', 'eq', 'kind-1'), asks('status', 'eq', 'stopped')],
    () => false,
  ],
  [
    'a range of many and what most are',
    [asks('status', 'eq', 'running'), asks('kind', 'like', 'kind-1*')],
    (job) => job.status === 'running' && job.kind === 'kind-1',
  ],
  [
    'a range in which few are sought',
    [asks('status', 'ne', 'running'), asks('kind', 'like', 'kind-*2'), asks('rank', 'gt', 985)],
    (job) => job.status !== 'running' && job.kind === 'kind-2' && (job.rank ?? 0) > 985,
  ],
  [
    'a part in the middle',
    [asks('kind', 'like', '*d-1*'), asks('status', 'eq', 'stopped')],
    (job) => job.kind === 'kind-1' && job.status === 'stopped',
  ],
  [
    'a list of many and what many are',
    [asks('tags', 'eq', 'some'), asks('kind', 'eq', 'kind-2')],
    (job) => job.tags.includes('some') && job.kind === 'kind-2',
  ],
  [
    'two lists of many and two states',
    [
      asks('tags', 'eq', 'all'),
      asks('tags', 'eq', 'some'),
      asks('kind', 'eq', 'kind-0'),
      asks('status', 'eq', 'running'),
    ],
    (job) => job.tags.includes('some') && job.kind === 'kind-0' && job.status === 'running',
  ],
  ['no list at all', [asks('tags', 'exists', false)], () => false],
  ['anything but one', [asks('kind', 'ne', 'kind-0')], (job) => job.kind !== 'kind-0'],
]

const ORDERS: readonly (readonly [string, NonNullable<Query['sort']>])[] = [
  ['by id', []],
  ['by a number', [{ field: 'rank' }]],
  ['by a number, descending', [{ field: 'rank', descending: true }]],
  ['by two texts', [{ field: 'kind', descending: true }, { field: 'status' }]],
  ['by id, descending', [{ field: 'id', descending: true }]],
]

function plain(filter: Filter, sort: NonNullable<Query['sort']>): readonly string[] {
  const value = (id: string, field: string) =>
    field === 'id' ? id : (jobs.get(id)?.[field as 'status' | 'kind' | 'rank'] ?? undefined)
  return [...jobs]
    .filter(([id, job]) => filter(job, id))
    .map(([id]) => id)
    .sort((a, b) => {
      for (const { field, descending } of sort) {
        const [x, y] = [value(a, field), value(b, field)]
        if (x === y) continue
        if (x === undefined || y === undefined) return x === undefined ? 1 : -1
        return descending === true ? compareValues(y, x) : compareValues(x, y)
      }
      return compareValues(a, b)
    })
}

describe('a query of a large collection', () => {
  it.each(some(FILTERS))('counts %s', async (_, where, filter) => {
    const expected = plain(filter, [])
    expect(await collection.count(where)).toBe(expected.length)
    expect(await together.count(where)).toBe(expected.length)
    expect(await ranked.count(where)).toBe(expected.length)
    const running = expected.filter((id) => jobs.get(id)?.status === 'running').length
    const counts = new Map([
      ['running', running],
      ['stopped', expected.length - running],
    ] as const)
    for (const [status, count] of counts) if (count === 0) counts.delete(status)
    expect(await collection.countBy('status', where)).toEqual(counts)
    expect(await together.countBy('status', where)).toEqual(counts)
    expect(await ranked.countBy('status', where)).toEqual(counts)
  })

  it.each(some(FILTERS))('looks through what has no index, among %s', async (_, others, filter) => {
    const where: readonly Condition[] = [...others, asks('note', 'contains', 'the kind-1')]
    const expected = plain((job, id) => filter(job, id) && job.kind === 'kind-1', [{ field: 'rank', descending: true }])
    const sort = [{ field: 'rank', descending: true }]
    expect(await ranked.count(where)).toBe(expected.length)
    expect(await ranked.ids({ where, sort, offset: 10, limit: 20 })).toEqual(expected.slice(10, 30))
    expect([...(await ranked.countBy('note', where)).values()].reduce((sum, count) => sum + count, 0)).toBe(
      expected.length,
    )
  })

  for (const [order, sort] of ORDERS) {
    it.each(some(FILTERS))(`gives pages ${order} of %s`, async (_, where, filter) => {
      const expected = plain(filter, sort)
      for (const [offset, limit] of [
        [0, 100],
        [150, 7],
        [3_000, 50],
        [Math.max(0, expected.length - 3), 10],
      ] as const) {
        for (const one of [collection, together, ranked]) {
          const page = await one.ids({ where, sort, offset, limit })
          expect([one.spec.name, offset, page]).toEqual([one.spec.name, offset, expected.slice(offset, offset + limit)])
        }
      }
    })
  }

  it('walks all of it by id', async () => {
    const walked: string[] = []
    for (let page = await collection.ids({ limit: 5_000 }); page.length > 0;) {
      walked.push(...page)
      page = await collection.ids({ limit: 5_000, afterId: page.at(-1) ?? '' })
    }
    expect(walked).toEqual(plain(() => true, []))
  })

  it('sees in its counts what was written since, and what only changed beside the fields', async () => {
    const where = [asks('status', 'eq', 'odd')] as const
    expect(await collection.count(where)).toBe(0)
    const job: Job = { status: 'odd', kind: 'x', rank: 1, tags: [] }
    await collection.put('extra', job)
    expect(await collection.count(where)).toBe(1)
    await collection.put('extra', job)
    expect(await collection.count(where)).toBe(1)
    await collection.put('extra', { ...job, tags: ['odd'] })
    expect(await collection.count([...where, asks('tags', 'eq', 'odd')])).toBe(1)
    await collection.delete('extra')
    expect(await collection.count(where)).toBe(0)
  })
})
