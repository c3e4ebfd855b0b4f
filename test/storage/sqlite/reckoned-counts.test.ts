import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CollectionSpec, Condition } from '../../../src/storage/contract.ts'
import { rowFilter, type SearchedRow } from '../../../src/storage/row-filter.ts'
import { Specs } from '../../../src/storage/spec.ts'
import { equalsOf, MaintainedCounts, type MaintainedCount } from '../../../src/storage/sqlite/reckoned-counts.ts'

interface Job {
  readonly status: string
  readonly tags: readonly string[]
}

const JOBS: CollectionSpec<Job> = {
  name: 'jobs',
  version: 1,
  fields: { status: { type: 'text', of: (job) => job.status }, tags: { type: 'texts', of: (job) => job.tags } },
}
const KNOWN = new Specs().know(JOBS)

function kept(where: readonly Condition[]): MaintainedCount {
  return { holds: rowFilter(KNOWN, where), equals: equalsOf(KNOWN, where), changes: 0 }
}
const status = (value: string): Condition => ({ field: 'status', op: 'eq', value })
const tag = (value: string): Condition => ({ field: 'tags', op: 'eq', value })
const row = (id: string, state: string, tags: readonly string[]): SearchedRow => ({ id, fields: [state, tags] })

describe('counts that are reckoned on with', () => {
  it('may be hundreds when they request different values, and a change reads those of its own values', () => {
    const counts = new MaintainedCounts()
    const all = Array.from({ length: 300 }, (_, n) => kept([status('on'), tag(`t${n}`)]))
    for (const one of all) counts.add(one, 10)
    counts.update({ before: undefined, after: row('a', 'on', ['t7', 't9']) })
    counts.update({ before: row('a', 'on', ['t7', 't9']), after: row('a', 'on', ['t9', 't11']) })
    const changed = all.flatMap((one, n) => (counts.get(one) === 10 ? [] : [[n, counts.get(one)]]))
    expect(changed).toEqual([
      [9, 11],
      [11, 11],
    ])
    // the first is stored under its own state, since no other existed then
    expect(all.flatMap(({ changes }, n) => (changes > 0 ? [n] : []))).toEqual([0, 7, 9, 11])
  })

  it('are no longer than 32 of the ones that every change reads', () => {
    const counts = new MaintainedCounts()
    for (let n = 0; n < 40; n += 1) counts.add(kept([{ field: 'status', op: 'ne', value: `${n}` }]), 0)
    expect(counts.size).toBe(32)
  })

  it('are let go after a thousand changes without a question', () => {
    const counts = new MaintainedCounts()
    const one = kept([status('on')])
    counts.add(one, 0)
    for (let n = 0; n < 1_000; n += 1) counts.update({ before: undefined, after: row(`${n}`, 'on', []) })
    expect(counts.get(one)).toBe(1_000)
    counts.update({ before: row('0', 'on', []), after: undefined })
    expect([counts.get(one), counts.size]).toEqual([undefined, 0])
  })

  it('are what a plain count returns, whatever changes and whatever is let go', () => {
    const questions = [[], [status('on')], [status('on'), tag('x')], [tag('x'), tag('y')], [status('off'), tag('x')]]
    const step = fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      to: fc.option(fc.record({ status: fc.constantFrom('on', 'off'), tags: fc.subarray(['x', 'y']) })),
      forget: fc.option(fc.nat(questions.length - 1), { freq: 4 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const counts = new MaintainedCounts()
        const all = questions.map(kept)
        const rows = new Map<string, SearchedRow>()
        for (const one of all) counts.add(one, 0)
        for (const { id, to, forget } of steps) {
          const before = rows.get(id)
          const after = to === null ? undefined : row(id, to.status, to.tags)
          if (after === undefined) rows.delete(id)
          else rows.set(id, after)
          counts.update({ before, after })
          const forgotten = forget === null ? undefined : all[forget]
          if (forgotten !== undefined) {
            counts.delete(forgotten)
            counts.add(forgotten, [...rows.values()].filter(forgotten.holds).length)
          }
        }
        expect(all.map((one) => counts.get(one))).toEqual(
          all.map(({ holds }) => [...rows.values()].filter(holds).length),
        )
      }),
    )
  })
})
