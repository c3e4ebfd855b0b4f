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
  ])('takes %s', (_name, text, cells) => {
    expect(read(text)).toEqual({ records: [[1, ...cells]], problems: [] })
  })

  it('skips blank lines and keeps counting', () => {
    expect(read('a\n\n  \nb').records).toEqual([
      [1, 'a'],
      [4, 'b'],
    ])
  })

  it('numbers a record by the line it begins in', () => {
    expect(read('a\n"b\n\nb"\nc').records).toEqual([
      [1, 'a'],
      [2, 'b\n\nb'],
      [5, 'c'],
    ])
  })

  it('names a quote in the middle of a cell', () => {
    expect(read('a,5" pipe\nb,c')).toEqual({
      records: [[2, 'b', 'c']],
      problems: [[1, 'cell 2 has a quote in the middle']],
    })
  })

  it('names text behind a closing quote', () => {
    expect(read('a,"b"c').problems).toEqual([[1, 'cell 2 has text after its closing quote']])
  })

  it('names a quote that is never closed by the line it is opened in, and still reads what follows', () => {
    expect(read('a,"b\nc,d\ne,f')).toEqual({
      records: [
        [2, 'c', 'd'],
        [3, 'e', 'f'],
      ],
      problems: [[1, 'the quote opened here is never closed']],
    })
  })

  it('is not misled by a later line with quotes of its own', () => {
    expect(read('a,"b\nc,d\n"e,e",f')).toEqual({
      records: [
        [2, 'c', 'd'],
        [3, 'e,e', 'f'],
      ],
      problems: [[1, 'the quote opened here is never closed']],
    })
  })

  it('is work in proportion to its lines, also when they are nothing but open quotes', () => {
    const linesOf = (count: number) => Array.from({ length: count }, () => `x,"${'y'.repeat(50)}`).join('\n')
    const readLines = (count: number) => expect(read(linesOf(count)).problems.length).toBeGreaterThan(0)
    expect(growth(readLines, 10_000, 10)).toBeLessThan(40)
  })

  it('reads back whatever is written by the rules of RFC 4180', () => {
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
