import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { checked } from '../../../../src/services/shared/api/check.ts'
import { closed, text, word } from '../../../../src/services/shared/api/fields.ts'

describe('a value that is read again', () => {
  it.each([
    ['as it came', closed({ name: text(3) })],
    ['as a copy', closed({ name: text(3), kind: Type.Optional(word('kind', ['A'])) })],
  ])('is checked as it is then: %s', (_what, schema) => {
    const { read } = checked(schema, { subject: 'the thing' })
    const value = { name: 'one' }
    expect(read(read(value))).toEqual({ name: 'one' })
    value.name = 'too long'
    expect(() => read(value)).toThrow('/name <- has 8 characters')
  })
})
