/**
 * Tests that pages and counts of a collection listed by rank equal those of all its documents, filtered, sorted and
 * cut.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CollectionSpec, Condition, Query } from '../../../src/storage/contract.ts'
import { compareText } from '../../../src/storage/order.ts'
import { sqliteMedium } from './sqlite-medium.ts'
import { runs } from '../../support/arbitraries/runs.ts'

interface Job {
  readonly name: string
  readonly status: string
  readonly made: number | undefined
  readonly tags: readonly string[]
  readonly note: string | undefined
}

const JOBS: CollectionSpec<Job> = {
  name: 'jobs',
  version: 1,
  fields: {
    note: { type: 'text', of: (job) => job.note, only: 'contains' },
    name: { type: 'text', of: (job) => job.name },
    tags: { type: 'texts', of: (job) => job.tags },
    status: { type: 'text', of: (job) => job.status },
    made: { type: 'number', of: (job) => job.made },
  },
  together: [
    ['status', 'made'],
    ['name', 'status', 'made'],
    ['made', 'name'],
  ],
}

const NAMES = ['a', 'a1', 'B', 'b']
const STATES = ['on', 'off']
const TAGS = ['x', 'y', 'z']
const NOTES = ['Long', 'longer']

const job: fc.Arbitrary<Job> = fc.record({
  name: fc.constantFrom(...NAMES),
  status: fc.constantFrom(...STATES),
  made: fc.constantFrom(undefined, -1, 0, 1, 2.5),
  tags: fc.subarray(TAGS),
  note: fc.constantFrom(undefined, ...NOTES),
})
/** Writes to a few ids, so that a document is created, changed in any field, deleted and created again. */
const writes = fc.array(fc.tuple(fc.integer({ min: 0, max: 11 }), fc.option(job, { nil: undefined, freq: 4 })), {
  minLength: 1,
  maxLength: 25,
})

interface Asked {
  readonly condition: Condition
  readonly holds: (job: Job) => boolean
}

const asked: fc.Arbitrary<Asked> = fc.oneof(
  fc.constantFrom(...STATES).map((value): Asked => ({
    condition: { field: 'status', op: 'eq', value },
    holds: (one) => one.status === value,
  })),
  fc.constantFrom(...TAGS).map((value): Asked => ({
    condition: { field: 'tags', op: 'eq', value },
    holds: (one) => one.tags.includes(value),
  })),
  fc.subarray(TAGS).map((values): Asked => ({
    condition: { field: 'tags', op: 'in', values },
    holds: (one) => one.tags.some((tag) => values.includes(tag)),
  })),
  fc.boolean().map((value): Asked => ({
    condition: { field: 'tags', op: 'exists', value },
    holds: (one) => one.tags.length > 0 === value,
  })),
  fc.constantFrom('a', 'b').map((start): Asked => ({
    condition: { field: 'name', op: 'like', pattern: `${start}*` },
    holds: (one) => one.name.startsWith(start),
  })),
  fc.constantFrom(...NAMES).map((value): Asked => ({
    condition: { field: 'name', op: 'eq', value },
    holds: (one) => one.name === value,
  })),
  fc.constantFrom('LONG', 'er').map((value): Asked => ({
    condition: { field: 'note', op: 'contains', value },
    holds: (one) => one.note?.toLowerCase().includes(value.toLowerCase()) ?? false,
  })),
  fc.constantFrom(...NOTES).map((value): Asked => ({
    condition: { field: 'note', op: 'eq', value },
    holds: (one) => one.note === value,
  })),
  fc.constantFrom(0, 1).map((value): Asked => ({
    condition: { field: 'made', op: 'gte', value },
    holds: (one) => one.made !== undefined && one.made >= value,
  })),
)
const either = fc.tuple(asked, asked).map(([a, b]): Asked => ({
  condition: { any: [[a.condition], [b.condition]] },
  holds: (one) => a.holds(one) || b.holds(one),
}))
const question = fc.record({
  where: fc.array(fc.oneof({ weight: 5, arbitrary: asked }, { weight: 1, arbitrary: either }), { maxLength: 3 }),
  sort: fc.constantFrom('made down', 'made up', 'id'),
  offset: fc.nat(3),
  limit: fc.nat(6),
})

type Sort = 'made down' | 'made up' | 'id'
const SORTS: Readonly<Record<Sort, NonNullable<Query['sort']>>> = {
  'made down': [{ field: 'made', descending: true }],
  'made up': [{ field: 'made' }],
  id: [],
}

function plain(jobs: ReadonlyMap<string, Job>, where: readonly Asked[], sort: Sort): readonly string[] {
  const sign = sort === 'made down' ? -1 : 1
  const rank = ({ made }: Job): number => made ?? sign * Infinity
  return [...jobs]
    .filter(([, one]) => where.every(({ holds }) => holds(one)))
    .sort(([a, x], [b, y]) => {
      const same = sort === 'id' || x.made === y.made
      return same ? compareText(a, b) : sign * (rank(x) - rank(y))
    })
    .map(([id]) => id)
}

describe('pages and counts', () => {
  it.each(['alone', 'beside another tenant'])('are those of a plain look at all documents, %s', async (company) => {
    const opened = await sqliteMedium().open({ clock: () => 0 })
    let collections = 0
    const other: Job = { name: 'a', status: 'on', made: 1, tags: TAGS, note: 'Long' }
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(writes, question), { minLength: 1, maxLength: 6 }), async (rounds) => {
          const spec = { ...JOBS, name: `jobs_${collections++}` }
          const collection = opened.storage.tenant('acme').collection(spec)
          if (company !== 'alone') await opened.storage.tenant('other').collection(spec).put('0', other)
          const jobs = new Map<string, Job>()
          for (const [made, { where, sort, offset, limit }] of rounds) {
            for (const [n, value] of made) {
              if (value === undefined) jobs.delete(`${n}`)
              else jobs.set(`${n}`, value)
            }
            await opened.storage
              .tenant('acme')
              .commit(
                made.map(([n, one]) =>
                  one === undefined ? collection.deleting(`${n}`) : collection.putting(`${n}`, one),
                ),
              )
            const expected = plain(jobs, where, sort)
            const conditions = where.map(({ condition }) => condition)
            const found = await collection.find({ where: conditions, sort: SORTS[sort], offset, limit })
            expect(found.map(({ id }) => id)).toEqual(expected.slice(offset, offset + limit))
            expect(found.map(({ value }) => value.status)).toEqual(found.map(({ id }) => jobs.get(id)?.status))
            expect(await collection.count(conditions)).toBe(expected.length)
          }
        }),
        runs(60),
      )
    } finally {
      await opened.destroy()
    }
  })
})
