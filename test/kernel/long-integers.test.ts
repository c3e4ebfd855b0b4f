import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/kernel/errors.ts'
import { parseBody } from '../../src/services/shared/http/parse-body.ts'

function problems(text: string): readonly string[] {
  try {
    parseBody(text)
    return []
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.issues.map(({ path, message, suggestion }) => `${path} <- ${message}; ${suggestion ?? ''}`)
  }
}

describe('an integer in a body', () => {
  it.each([
    '9007199254740991',
    '-9007199254740991',
    '9007199254740992',
    '9007199254740994',
    '{"a":[0.12345678901234567890,1e300,-1.5e-17]}',
    '{"a":"9007199254740993","9007199254740993":"\\"9007199254740993"}',
    '[12345678901234567.5]',
    '[9007199254740993e0]',
  ])('is accepted when it keeps its digits, or is written as a fraction: %s', (text) => {
    expect(parseBody(text)).toEqual(JSON.parse(text))
  })

  it.each([
    ['{"serial":9007199254740993}', '/serial', '9007199254740993'],
    ['[1,{"a":"x\\\\","b/c":[true,-9007199254740993]}]', '/1/b~1c/1', '-9007199254740993'],
    ['{"a":{"b":1,"c":"v"},"d" : 18446744073709551616}', '/d', '18446744073709551616'],
    ['9007199254740993', '', '9007199254740993'],
  ])('is rejected when it would be rounded: %s', (text, path, number) => {
    expect(problems(text)).toEqual([
      `${path} <- ${number} has more digits than a number can represent; send it as a text: "${number}"`,
    ])
  })

  it('is reported together with all others', () => {
    expect(problems('{"a":9007199254740993,"b":[9007199254740995]}').map((line) => line.split(' ')[0])).toEqual([
      '/a',
      '/b/0',
    ])
  })
})
