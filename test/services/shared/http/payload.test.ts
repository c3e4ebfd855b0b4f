import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Payload, parsePayload } from '../../../../src/services/shared/http/payload.ts'

describe('a payload', () => {
  it('equals its JSON value', () => {
    const text = fc
      .json({ maxDepth: 4 })
      .chain((json) => fc.constantFrom(json, `{"9":${json},"a":1}`, JSON.stringify(JSON.parse(json), null, 2)))
    fc.assert(
      fc.property(text, (json) => {
        expect(plain(parsePayload(json))).toEqual(JSON.parse(json))
      }),
    )
  })

  it.each<[string, unknown]>([
    [
      '{"n":12345678901234567890,"m":[-9007199254740993],"k":1e20,"s":"12345678901234567890"}',
      {
        n: 12345678901234567890n,
        m: [-9007199254740993n],
        k: 1e20,
        s: '12345678901234567890',
      },
    ],
    ['12345678901234567890', 12345678901234567890n],
    [
      '{"2":"b","1":"a"}',
      new Map([
        ['2', 'b'],
        ['1', 'a'],
      ]),
    ],
    [
      '{"x":{"z":[],"1":{}},"2":true}',
      new Map<string, unknown>([
        [
          'x',
          new Map<string, unknown>([
            ['z', []],
            ['1', {}],
          ]),
        ],
        ['2', true],
      ]),
    ],
    [
      '{"a" : 1,\n "1" : 2 , "a" : 3}',
      new Map([
        ['a', 3],
        ['1', 2],
      ]),
    ],
    ['{"1":1,"2":2,"a":"\\"}"}', { 1: 1, 2: 2, a: '"}' }],
    ['{"constructor":{"prototype":1}}', { constructor: { prototype: 1 } }],
  ])('of %s keeps digits, order and keys', (text, value) => {
    expect(parsePayload(text)).toEqual(value)
    expect(JSON.stringify(new Payload(text))).toBe(JSON.stringify(text))
  })

  it.each([
    ['{"a":', 'NOT_JSON'],
    ['{"1":1}}', 'NOT_JSON'],
    ['['.repeat(200) + ']'.repeat(200), 'TOO_LARGE'],
  ])('of %s is rejected', (text, code) => {
    expect(() => parsePayload(text)).toThrow(expect.objectContaining({ code }))
  })
})

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const entries = value instanceof Map ? [...(value as Map<string, unknown>)] : Object.entries(value)
  return Object.fromEntries(entries.map(([key, part]) => [key, plain(part)]))
}
