import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { excerptOf, findJsonProblem } from '../../../src/formats/recording/json-problem.ts'
import { runs } from '../../support/arbitraries/runs.ts'

describe('findJsonProblem', () => {
  it.each([
    ['a trailing comma', '{"a": 1,}', 8, 'unexpected comma before the closing }', 'remove the trailing comma'],
    ['a trailing comma in a list', '[1, 2, ]', 6, 'unexpected comma before the closing ]', 'remove the trailing comma'],
    ['single quotes around a key', "{'a': 1}", 2, 'a key is in single quotes', 'use double quotes'],
    ['single quotes around a value', '{"a": \'b\'}', 7, 'a value is in single quotes', 'use double quotes'],
    ['a key without quotes', '{a: 1}', 2, 'the key a lacks quotes', 'use "a"'],
    [
      'a missing comma',
      '{"a": 1 "b": 2}',
      9,
      'a comma is missing before a double quote',
      'add a comma between two fields',
    ],
    ['a missing colon', '{"a" 1}', 6, 'a colon is missing before "1"', 'use "key": value'],
    [
      'the wrong bracket',
      '{"a": [1}',
      9,
      'unexpected "}": the [ of line 1, column 7 is still open',
      'close it with ] first',
    ],
    ['a word of Python', '{"a": None}', 7, 'None is not a JSON value', 'use null'],
    ['a word without quotes', '{"a": hot}', 7, 'hot is not a JSON value', 'use "hot" for a text'],
    [
      'a leading zero',
      '[01]',
      2,
      '01 is not a valid JSON number',
      'use a form such as 0.5, -3 or 1e6, without plus sign and leading zeros',
    ],
    ['a raw tab in a text', '["a\tb"]', 4, 'a text contains a control character', 'write a tab as \\t'],
    [
      'a path with backslashes',
      '["C:\\data"]',
      5,
      '\\d is not a valid JSON escape',
      'write a backslash itself twice: \\\\',
    ],
    ['two values', '{} {}', 4, 'unexpected text after the end of the JSON: "{"', 'use a single JSON value'],
    ['nothing', '  ', 1, 'the text is empty', 'use a JSON object, { ... }'],
  ])('reports %s', (_name, text, column, message, suggestion) => {
    expect(findJsonProblem(text)).toMatchObject({ line: 1, column, message, suggestion })
  })

  it.each(['// why', '/* why */'])('reports the comment %s', (comment) => {
    expect(findJsonProblem(`{\n  ${comment}\n  "a": 1\n}`)).toMatchObject({
      line: 2,
      column: 3,
      message: 'comments are not allowed in JSON',
    })
  })

  it('reports the open bracket when the text ends', () => {
    expect(findJsonProblem('{\n  "a": [\n    1\n')).toMatchObject({
      line: 3,
      column: 6,
      message: 'the text ends, but the [ of line 2, column 8 is still open',
      suggestion: 'close it with ]',
    })
  })

  it('shows the line with a caret under the position, for lines of any length', () => {
    const problem = findJsonProblem(`{"a": "${'x'.repeat(500)}" "b": 1}`)
    if (problem === undefined) throw new Error('a problem was expected')
    const [line = '', caret = ''] = excerptOf(problem).split('\n')
    expect(line.length).toBeLessThanOrEqual(102)
    expect(line.slice(caret.indexOf('^'), caret.indexOf('^') + 3)).toBe('"b"')
  })

  it('handles any depth', () => {
    expect(findJsonProblem('['.repeat(200_000))).toMatchObject({ suggestion: 'close it with ]' })
  })

  it('reports a problem exactly where JSON.parse throws', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '1',
      '-',
      '0',
      '.5',
      'e3',
      'true',
      'nul',
      ' ',
      '\n',
      '\\',
      "'",
      '//',
      '\u00e9',
    )
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
        (text) => {
          expect(findJsonProblem(text) === undefined).toBe(parses(text))
        },
      ),
      runs(2000),
    )
  })

  it('accepts everything that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(findJsonProblem(text)).toBeUndefined()
      }),
    )
  })
})

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
