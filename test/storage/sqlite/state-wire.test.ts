/** Tests how units of work and results are encoded between threads. */
import { describe, expect, it } from 'vitest'
import type { StateAnswer, StateJob } from '../../../src/storage/sqlite/state-jobs.ts'
import { packAnswers, packJobs, unpackAnswers, unpackJobs } from '../../../src/storage/sqlite/state-wire.ts'

const JOBS: readonly StateJob[] = [
  { kind: 'commit', tenant: 'a', writes: [] },
  {
    kind: 'commit',
    tenant: 'a',
    writes: [
      { kind: 'append', log: 'inputs', chunks: [] },
      {
        kind: 'append',
        log: 'inputs',
        chunks: [
          { count: 2, bodies: '1,2' },
          { count: 1, bodies: '"é😀"' },
        ],
      },
      { kind: 'put', collection: 'things', id: 'x', body: '{}', fields: [], expect: 'any', needsPrevious: false },
      {
        kind: 'put',
        collection: 'things',
        id: 'y',
        body: '{"n":1}',
        fields: [null, 'n', -0, 1.5, Number.MAX_SAFE_INTEGER],
        expect: Number.MAX_SAFE_INTEGER,
        needsPrevious: true,
      },
    ],
  },
  { kind: 'trim', tenant: 'b', log: 'inputs', upTo: 7 },
  {
    kind: 'commit',
    tenant: 'b',
    writes: [
      { kind: 'delete', collection: 'things', id: 'x', expect: 'absent', needsPrevious: true },
      { kind: 'expect', collection: 'things', id: 'z', expect: 12 },
      { kind: 'delete', collection: 'things', id: 'y', expect: 1, needsPrevious: false },
    ],
  },
  { kind: 'fill', collection: 'things', rows: [{ tenant: 'a', id: 'x', fields: ['x'] }], last: true },
]

const ANSWERS: readonly StateAnswer[] = [
  { results: [], changed: [], previous: [] },
  { failure: 'no room', code: 'UNAVAILABLE' },
  { results: [1, Number.MAX_SAFE_INTEGER, 0], changed: ['things', 'others'], previous: [] },
  { conflicts: [{ index: 1, actual: 'absent' }] },
  { results: [2], changed: ['things'], previous: [{ index: 0, before: [null, 'x'] }] },
  { results: [3], changed: [], previous: [] },
]

describe('what crosses between threads', () => {
  it('is the same units of work on the other side', () => {
    expect(unpackJobs(structuredClone(packJobs(JOBS)))).toEqual(JOBS)
  })

  it('is the same answers on the way back', () => {
    expect(unpackAnswers(structuredClone(packAnswers(ANSWERS)))).toEqual(ANSWERS)
  })

  it('is rejected when something of it is missing', () => {
    const wire = packJobs(JOBS)
    expect(() => unpackJobs({ ...wire, texts: wire.texts.slice(1) })).toThrow('incomplete')
  })
})
