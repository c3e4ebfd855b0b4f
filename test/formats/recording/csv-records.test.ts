import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CsvRecords } from '../../../src/formats/recording/csv-records.ts'
import { growth } from '../../support/cpu-time.ts'

interface Read {
  records: [line: number, ...cells: string[]][]
  problems: [line: number, message: string][]
}

function read(text: string): Read {
  const found: Read = { records: [], problems: [] }
  const records = new CsvRecords({
    record: (cells, line) => void found.records.push([line, ...cells]),
    problem: (line, message) => void found.problems.push([line, message]),
  })
  for (const [index, line] of text.split('\n').entries()) records.line(line, index + 1)
  records.end()
  return found
}

describe('CsvRecords', () => {
  it.each([
    ['plain cells', 'a,b', ['a', 'b']],
    ['empty cells', ',a,', ['', 'a', '']],
    ['a comma in quotes', '"a,b",c', ['a,b', 'c']],
    ['doubled quotes', '"say ""hi""",c', ['say "hi"', 'c']],
    ['an empty cell in quotes', '"",""', ['', '']],
    ['blanks, which belong to the cell', ' a , b', [' a ', ' b']],
    ['a line break in quotes', '"a\nb",c', ['a\nb', 'c']],
    ['a line break of Windows in quotes', '"a\r\nb\r",c\r', ['a\r\nb\r', 'c']],
    ['a line end of Windows', 'a,b\r', ['a', 'b']],
    ['a line end of Windows behind quotes', 'a,"b"\r', ['a', 'b']],
    ['a line end of Windows in a row with quotes', '"a",b\r', ['a', 'b']],
  ])('parses %s', (_name, text, cells) => {
    expect(read(text)).toEqual({ records: [[1, ...cells]], problems: [] })
  })

  it('skips blank lines but counts them', () => {
    expect(read('a\n\n  \nb').records).toEqual([
      [1, 'a'],
      [4, 'b'],
    ])
  })

  it('numbers a record by its first line', () => {
    expect(read('a\n"b\n\nb"\nc').records).toEqual([
      [1, 'a'],
      [2, 'b\n\nb'],
      [5, 'c'],
    ])
  })

  it('reports a quote in the middle of a cell', () => {
    expect(read('a,5" pipe\nb,c')).toEqual({
      records: [[2, 'b', 'c']],
      problems: [[1, 'cell 2 has a quote in the middle']],
    })
  })

  it('reports text after a closing quote', () => {
    expect(read('a,"b"c').problems).toEqual([[1, 'cell 2 has text after its closing quote']])
  })

  it('reports an unclosed quote by the line where it opens, and still reads the rest', () => {
    expect(read('a,"b\nc,d\ne,f')).toEqual({
      records: [
        [2, 'c', 'd'],
        [3, 'e', 'f'],
      ],
      problems: [[1, 'the quote opened here is never closed']],
    })
  })

  it('is not confused by quotes in a later line', () => {
    expect(read('a,"b\nc,d\n"e,e",f')).toEqual({
      records: [
        [2, 'c', 'd'],
        [3, 'e,e', 'f'],
      ],
      problems: [[1, 'the quote opened here is never closed']],
    })
  })

  it('takes time linear in the number of lines, even if all are open quotes', () => {
    const linesOf = (count: number) => Array.from({ length: count }, () => `x,"${'y'.repeat(50)}`).join('\n')
    const readLines = (count: number) => expect(read(linesOf(count)).problems.length).toBeGreaterThan(0)
    expect(growth(readLines, 10_000, 10)).toBeLessThan(40)
  })

  it('reads back any records written by the rules of RFC 4180', () => {
    const cell = fc
      .array(fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'é', '1'), { maxLength: 6 })
      .map((parts) => parts.join(''))
    const row = fc.array(cell, { minLength: 2, maxLength: 5 })
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 6 }), (rows) => {
        const text = rows.map((cells) => cells.map((one) => `"${one.replaceAll('"', '""')}"`).join(',')).join('\n')
        const found = read(text)
        expect(found.problems).toEqual([])
        expect(found.records.map(([, ...cells]) => cells)).toEqual(rows)
      }),
    )
  })
})
