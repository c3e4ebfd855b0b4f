import { describe, expect, it } from 'vitest'
import { Bindings, identifier, textArray } from '../../../src/storage/postgres/sql-text.ts'

describe('a piece of SQL', () => {
  it.each([
    ['plain', '"plain"'],
    ['Two Words', '"Two Words"'],
    ['a"; drop table x', '"a""; drop table x"'],
  ])('the name %s is %s', (name, expected) => {
    expect(identifier(name)).toBe(expected)
  })

  it.each([
    [[], '{}'],
    [['a', 'b,c'], '{"a","b,c"}'],
    [['"', '\\', '{}', '', 'NULL'], '{"\\"","\\\\","{}","","NULL"}'],
  ])('the texts %j are %s', (texts, expected) => {
    expect(textArray(texts)).toBe(expected)
  })

  it('values are bound by place, never written out', () => {
    const bindings = new Bindings()
    expect([bindings.add(`' or true --`, 'text'), bindings.add(1, 'bigint')]).toEqual(['$1::text', '$2::bigint'])
    expect(bindings.values).toEqual([`' or true --`, 1])
  })
})
