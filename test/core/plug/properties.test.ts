import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { definePlug } from '../../../src/core/plug/define.ts'
import type { FieldType, InputField, Plug } from '../../../src/core/plug/plug.ts'
import { finishProperties, isFinished } from '../../../src/core/plug/properties.ts'

function plugWith(input: Readonly<Record<string, InputField>>): Plug {
  return definePlug({ name: 'tested', version: '1.0.0', kind: 'sensor', input, execute: () => undefined })
}

function problemsOf(input: Readonly<Record<string, InputField>>, values: Record<string, unknown>): string[] {
  return (finishProperties(plugWith(input), values).problems ?? []).map((problem) => problem.message)
}

describe('finishProperties', () => {
  it.each<[FieldType, unknown, unknown]>([
    ['double', '21.5', 21.5],
    ['double', '-300', -300],
    ['float', '0.5', 0.5],
    ['integer', '42', 42],
    ['integer', '3.0', 3],
    ['long', '-7', -7],
    ['boolean', 'true', true],
    ['boolean', 'false', false],
    ['string', 21.5, '21.5'],
    ['string', false, 'false'],
    ['string', { a: [1] }, '{"a":[1]}'],
    ['object', '{"a":1}', { a: 1 }],
    ['array', '[1,"x"]', [1, 'x']],
  ])('as %s turns %j into %j', (type, value, expected) => {
    const finished = finishProperties(plugWith({ it: { type } }), { it: value })
    expect(finished).toEqual({ properties: { it: expected } })
  })

  it.each<[FieldType, unknown]>([
    ['double', 'abc'],
    ['double', ''],
    ['double', '   '],
    ['double', '0x1f'],
    ['double', ' -3e2 '],
    ['float', '.5'],
    ['double', 'Infinity'],
    ['double', '1e999'],
    ['double', Number.NaN],
    ['double', Number.POSITIVE_INFINITY],
    ['double', true],
    ['double', [1]],
    ['integer', 1.5],
    ['integer', '1.5'],
    ['long', 2 ** 53],
    ['boolean', 'yes'],
    ['boolean', 1],
    ['string', Number.NaN],
    ['object', '[1]'],
    ['object', '{'],
    ['object', '{"__proto__":{"a":1}}'],
    ['object', `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`],
    ['object', [1]],
    ['object', new Date(0)],
    ['array', '{"a":1}'],
    ['array', { length: 1 }],
  ])('as %s rejects %j', (type, value) => {
    const finished = finishProperties(plugWith({ it: { type } }), { it: value })
    expect(finished.problems?.map((problem) => problem.property)).toEqual(['it'])
  })

  it('fills in defaults, and keeps absent and undeclared properties', () => {
    const plug = plugWith({ unit: { type: 'string', defaultValue: 'C' }, note: { type: 'string' } })
    expect(finishProperties(plug, { extra: 1 })).toStrictEqual({ properties: { extra: 1, unit: 'C' } })
    expect(finishProperties(plug, { unit: undefined })).toStrictEqual({ properties: { unit: 'C' } })
  })

  it('treats null as missing', () => {
    const plug = plugWith({
      unit: { type: 'string', defaultValue: 'C' },
      note: { type: 'string' },
      other: { type: 'any' },
    })
    expect(finishProperties(plug, { unit: null, note: null, other: null })).toStrictEqual({ properties: { unit: 'C' } })
    expect(problemsOf({ limit: { type: 'double', mandatory: true } }, { limit: null })).toEqual([
      'property "limit" must be a number such as 21.5, but is null',
    ])
  })

  it('applies a default to a mandatory property', () => {
    const plug = plugWith({ unit: { type: 'string', mandatory: true, defaultValue: 'C' } })
    expect(finishProperties(plug, {})).toEqual({ properties: { unit: 'C' } })
  })

  it('returns the same object when nothing changes', () => {
    const values = { limit: 5, extra: 1 }
    const plug = plugWith({ limit: { type: 'double', mandatory: true }, note: { type: 'string' } })
    expect(finishProperties(plug, values).properties).toBe(values)
    expect(isFinished(plug, values)).toBe(true)
  })

  it('does not modify its input', () => {
    const values = Object.freeze({ limit: '5' })
    const plug = plugWith({ limit: { type: 'double' }, unit: { type: 'string', defaultValue: 'C' } })
    expect(finishProperties(plug, values)).toEqual({ properties: { limit: 5, unit: 'C' } })
    expect(values).toEqual({ limit: '5' })
  })

  it('rejects an object that contains itself where text is required', () => {
    const loop: Record<string, unknown> = {}
    loop['self'] = loop
    expect(problemsOf({ it: { type: 'string' } }, { it: loop })).toHaveLength(1)
  })

  it('names the property, its type, an example and the value, for all problems at once', () => {
    const input: Record<string, InputField> = {
      limit: { type: 'double', mandatory: true, example: 25 },
      value: { type: 'double' },
      level: { type: 'string', format: { type: 'enum', values: ['LOW', 'HIGH'] } },
      rule: { type: 'object', format: { type: 'logic' }, example: { '>': [{ var: 'temperature' }, 25] } },
      wait: { type: 'string', mandatory: true, format: { type: 'duration' }, example: '5m' },
      token: { type: 'integer', sensitive: true },
    }
    expect(problemsOf(input, { value: 'abc', level: 'low', rule: 'x > 1', token: 's3cret' })).toEqual([
      'property "limit" must be a number such as 25, but is missing',
      'property "value" must be a number such as 21.5, but is "abc"',
      'property "level" must be one of LOW, HIGH, but is "low"',
      'property "rule" must be a JSON Logic object such as {">":[{"var":"temperature"},25]}, but is "x > 1"',
      'property "wait" must be a duration such as "5m", but is missing',
      'property "token" must be a whole number such as 42, but is something else',
    ])
  })

  it('shortens long values in messages', () => {
    expect(problemsOf({ it: { type: 'double' } }, { it: 'x'.repeat(10_000) })[0]?.length).toBeLessThan(200)
  })

  it('ignores properties whose value is resolved later, and checks the others', () => {
    const plug = plugWith({
      value: { type: 'double', mandatory: true },
      unit: { type: 'string', defaultValue: 'C' },
      limit: { type: 'double', mandatory: true },
    })
    const later = new Set(['value', 'unit'])
    expect(finishProperties(plug, { limit: '5' }, later)).toStrictEqual({ properties: { limit: 5 } })
    expect(finishProperties(plug, {}, later).problems?.map((problem) => problem.property)).toEqual(['limit'])
  })

  it('is idempotent, for any values', () => {
    const types: readonly FieldType[] = ['string', 'integer', 'double', 'boolean', 'object', 'array', 'any']
    const field = fc.record({ type: fc.constantFrom(...types), mandatory: fc.boolean() })
    const name = fc.constantFrom('a', 'b', 'c')
    fc.assert(
      fc.property(fc.dictionary(name, field), fc.dictionary(name, fc.anything()), (input, values) => {
        const plug = plugWith(input)
        const { properties } = finishProperties(plug, values)
        expect(properties === undefined || isFinished(plug, properties)).toBe(true)
        expect(isFinished(plug, values)).toBe(properties === values)
      }),
    )
  })
})
