import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonLines } from '../../../src/platform/sandbox/json-lines.ts'

describe('JSON lines', () => {
  it('are joined correctly, however their bytes are split', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.array(fc.nat({ max: 50 })), (values, cuts) => {
        const text = values.map((value) => `${JSON.stringify(value)}\n`).join('')
        const taken: unknown[] = []
        const lines = new JsonLines(1e6, (value) => taken.push(value))
        let from = 0
        for (const cut of cuts) lines.push(text.slice(from, (from += cut)))
        lines.push(text.slice(from))
        expect(taken.map((value) => JSON.stringify(value))).toEqual(values.map((value) => JSON.stringify(value)))
      }),
    )
  })

  it.each([
    ['a line that is too long', '"123456789"\n', 'a line is longer than 10 characters'],
    ['a line without an end', '"1234567890', 'a line is longer than 10 characters'],
    ['a line that is not JSON', 'hello\n', '"hello" is not JSON'],
  ])('reject %s', (_, text, message) => {
    const taken: unknown[] = []
    const lines = new JsonLines(10, (value) => taken.push(value))
    lines.push('1\n')
    expect(() => lines.push(text)).toThrow(message)
    expect(taken).toEqual([1])
  })
})
