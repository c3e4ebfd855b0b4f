import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { checked } from '../../../../src/services/shared/api/check.ts'
import { closed, nullable, readOnly, refined, text, word } from '../../../../src/services/shared/api/fields.ts'

describe('a value that is changed after it was checked', () => {
  it.each([
    ['as it came', closed({ name: text(3) })],
    ['as a copy', closed({ name: text(3), kind: Type.Optional(word('kind', ['A'])) })],
  ])('is checked again at the next read: %s', (_what, schema) => {
    const { read } = checked(schema, { subject: 'the thing' })
    const value = { name: 'one' }
    expect(read(read(value))).toEqual({ name: 'one' })
    value.name = 'too long'
    expect(() => read(value)).toThrow('/name <- has 8 characters')
  })
})

describe('a field of a value', () => {
  const Part = refined(closed({ name: text(3) }), () => [{ at: '/name', message: 'is taken' }])
  const schema = closed({
    note: Type.Optional(Type.Decode(nullable(text(3)), (note) => note ?? undefined)),
    part: Type.Optional(nullable(Part)),
    ...readOnly(['id']),
  })
  const { read } = checked(schema, { subject: 'the thing' })

  it('that is read-only or null is omitted', () => {
    expect(Object.entries(read({ note: null, part: null, id: 7 }))).toEqual([['part', null]])
  })

  it('that may be null must otherwise obey the rules of its object', () => {
    expect(() => read({ part: { name: 'one' } })).toThrow('/part/name <- is taken')
  })
})
