import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import type { Expectation } from '../../../src/storage/contract.ts'
import { planBatch, type Before, type Kept, type PreparedUnit } from '../../../src/storage/postgres/batch-plan.ts'
import { Specs } from '../../../src/storage/spec.ts'

const known = new Specs().know({ name: 'notes', version: 1, fields: {} })
const put = (id: string, expect: Expectation = 'any', text = '{}') =>
  ({ kind: 'put', known, id, text, fields: [], expect }) as const
const del = (id: string, expect: Expectation = 'any') => ({ kind: 'delete', known, id, expect }) as const
const append = (...texts: string[]) => ({ kind: 'append', log: 'inputs', texts }) as const
const unit = (...writes: PreparedUnit['writes']): PreparedUnit => ({ tenant: 'acme', writes })
const stored = (documents: Record<string, Kept> = {}, last?: number): Before => ({
  document: (_, __, id) => documents[id],
  last: () => last,
})
const codes = (outcomes: readonly unknown[]) => outcomes.map((one) => (one instanceof AppError ? one.code : one))

describe('the plan of a batch', () => {
  it('writes each document once, as the last unit leaves it', () => {
    const { outcomes, documents } = planBatch(
      [unit(put('x', 'absent', '1')), unit(put('x', 1, '2'), put('y')), unit(del('y', 1))],
      stored(),
    )
    expect(outcomes).toEqual([[1], [2, 1], [1]])
    expect(documents.map(({ id, version, alive, body, known: there }) => [id, version, alive, body, there])).toEqual([
      ['x', 2, true, '2', false],
      ['y', 1, false, null, false],
    ])
  })

  it('STORE-1: a unit that conflicts leaves no trace in those after it', () => {
    const { outcomes, documents, logs } = planBatch(
      [
        unit(append('a'), put('x', 3, 'new')),
        unit(append('lost'), put('x', 4, 'lost'), put('y'), del('z', 9)),
        unit(append('b'), put('y', 'absent'), put('x', 4)),
      ],
      stored({ x: { version: 3, alive: true } }, 7),
    )
    expect(codes(outcomes)).toEqual([[8, 4], 'CONFLICT', [9, 1, 5]])
    expect(documents.map(({ id, version }) => [id, version])).toEqual([
      ['x', 5],
      ['y', 1],
    ])
    expect(logs).toMatchObject([{ known: true, first: 8, bodies: ['a', 'b'] }])
  })

  it('STORE-1: takes back a document that a failed unit wrote twice', () => {
    const { documents } = planBatch([unit(put('x', 'any', '1'), put('x', 'any', '2'), put('y', 5))], stored())
    expect(documents).toEqual([])
  })

  it('STORE-2: continues from the version of what was deleted', () => {
    const before = stored({ x: { version: 6, alive: false } })
    expect(planBatch([unit(put('x', 'absent'))], before)).toMatchObject({
      outcomes: [[7]],
      documents: [{ known: true, version: 7 }],
    })
    expect(codes(planBatch([unit(put('x', 6))], before).outcomes)).toEqual(['CONFLICT'])
  })

  it('STORE-3: a log begins with 1, and nothing is planned where nothing is appended', () => {
    expect(planBatch([unit(append('a', 'b'), append('c'))], stored())).toMatchObject({
      outcomes: [[2, 3]],
      logs: [{ known: false, first: 1, bodies: ['a', 'b', 'c'] }],
    })
    const { outcomes, logs } = planBatch([unit(append('a'), put('x', 1))], stored())
    expect([codes(outcomes), logs]).toEqual([['CONFLICT'], []])
  })

  it('a delete of nothing is not a change', () => {
    expect(planBatch([unit(del('x')), unit(del('x', 'absent'))], stored())).toEqual({
      outcomes: [[0], [0]],
      documents: [],
      logs: [],
    })
  })

  it('names every conflict of a unit by its place, and what was there', () => {
    const [outcome] = planBatch(
      [unit(put('a'), put('x', 'absent'), del('gone', 2))],
      stored({ x: { version: 3, alive: true }, gone: { version: 2, alive: false } }),
    ).outcomes
    expect(outcome).toMatchObject({
      issues: [
        { path: '/1', details: { expected: 'absent', actual: 3 } },
        { path: '/2', details: { expected: 2, actual: 'absent' } },
      ],
    })
  })

  it('tenants with equal ids do not meet', () => {
    const { outcomes } = planBatch([unit(put('x')), { tenant: 'other', writes: [put('x', 'absent')] }], stored())
    expect(outcomes).toEqual([[1], [1]])
  })
})
