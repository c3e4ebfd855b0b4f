import { describe, expect, it } from 'vitest'
import { differenceOf } from '../../src/kernel/difference.ts'

describe('the difference of two values', () => {
  it.each<[string, unknown, unknown, unknown]>([
    ['equal values', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ['a member that changed', { a: 1, b: 2 }, { a: 1, b: 3 }, [{ path: '/b', from: 2, to: 3 }]],
    [
      'an added or removed member',
      { a: 1 },
      { b: 2 },
      [
        { path: '/a', from: 1 },
        { path: '/b', to: 2 },
      ],
    ],
    ['nested members', { a: { 'x/y~': 1 } }, { a: { 'x/y~': 2 } }, [{ path: '/a/x~1y~0', from: 1, to: 2 }]],
    ['a longer list', [1], [1, 2], [{ path: '/1', to: 2 }]],
    [
      'a shorter list',
      [1, 2, 3],
      [1],
      [
        { path: '/1', from: 2 },
        { path: '/2', from: 3 },
      ],
    ],
    ['another kind', { a: [1] }, { a: { 0: 1 } }, [{ path: '/a', from: [1], to: { 0: 1 } }]],
    ['a new document', undefined, { a: 1 }, [{ path: '', to: { a: 1 } }]],
    ['a removed document', { a: 1 }, undefined, [{ path: '', from: { a: 1 } }]],
    [
      'a member called like a part of each object',
      { a: 1 },
      JSON.parse('{"a":1,"__proto__":2}'),
      [{ path: '/__proto__', to: 2 }],
    ],
  ])('of %s', (_what, from, to, difference) => {
    expect(differenceOf(from, to)).toEqual(difference)
  })

  it('masks the values of secret members, on both sides', () => {
    const from = { user: 'a', password: 'one', deep: [{ apiKey: 'x', api_secret: { a: 1 }, keys: 1 }], salt: 's' }
    const to = { user: 'b', password: 'two', deep: [{ apiKey: 'x', api_secret: { a: 2 }, keys: 2 }] }
    expect(differenceOf(from, to)).toEqual([
      { path: '/deep/0/api_secret', from: '***', to: '***' },
      { path: '/deep/0/keys', from: 1, to: 2 },
      { path: '/password', from: '***', to: '***' },
      { path: '/salt', from: '***' },
      { path: '/user', from: 'a', to: 'b' },
    ])
    expect(differenceOf(undefined, { token: 'x', list: [{ sealed: 'y', n: 1 }] })).toEqual([
      { path: '', to: { token: '***', list: [{ sealed: '***', n: 1 }] } },
    ])
  })

  it('shortens long values, and stops after 200 lines', () => {
    expect(differenceOf({ a: 'x'.repeat(20_000) }, { a: '' })).toEqual([
      { path: '/a', from: `${'x'.repeat(1_000)}... (20002 characters of JSON)`, to: '' },
    ])
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`m${i}`, i]))
    const lines = differenceOf({}, many)
    expect([lines.length, lines.at(-1)]).toEqual([201, { path: '', to: '100 more changes' }])
  })
})
