import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineSplitter, MAX_LINE } from '../../../src/formats/recording/lines.ts'

function split(chunks: readonly Uint8Array[]): { lines: [number, string][]; tooLong: number[] } {
  const lines: [number, string][] = []
  const tooLong: number[] = []
  const splitter = new LineSplitter({
    line: (text, number) => void lines.push([number, text]),
    tooLong: (number) => void tooLong.push(number),
  })
  for (const chunk of chunks) splitter.push(chunk)
  splitter.end()
  return { lines, tooLong }
}

const bytes = (text: string) => new TextEncoder().encode(text)

describe('LineSplitter', () => {
  it.each([
    ['LF', 'a\nb\n'],
    ['no end in the last line', 'a\nb'],
    ['a byte order mark', '\ufeffa\nb'],
  ])('splits lines with %s', (_name, text) => {
    expect(split([bytes(text)]).lines).toEqual([
      [1, 'a'],
      [2, 'b'],
    ])
  })

  it('keeps a CR inside a line', () => {
    expect(split([bytes('a\r\nb')]).lines).toEqual([
      [1, 'a\r'],
      [2, 'b'],
    ])
  })

  it('counts blank lines', () => {
    expect(split([bytes('\n\na')]).lines).toEqual([
      [1, ''],
      [2, ''],
      [3, 'a'],
    ])
  })

  it('returns the same lines for any split of the bytes, also inside a character', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'é', '漢', '😀', '\n', '\r\n', ','), { maxLength: 60 }),
        fc.integer({ min: 1, max: 7 }),
        (parts, size) => {
          const all = bytes(parts.join(''))
          const chunks = Array.from({ length: Math.ceil(all.length / size) }, (_, i) =>
            all.slice(i * size, (i + 1) * size),
          )
          expect(split(chunks)).toEqual(split([all]))
        },
      ),
    )
  })

  it('skips a line that is too long, reports it, and continues after it', () => {
    const long = 'x'.repeat(MAX_LINE + 1)
    const half = bytes(long.slice(0, MAX_LINE))
    expect(split([bytes('a\n'), half, half, bytes('\nb\n')])).toEqual({
      lines: [
        [1, 'a'],
        [3, 'b'],
      ],
      tooLong: [2],
    })
    expect(split([bytes(`${long}\nb`)])).toEqual({ lines: [[2, 'b']], tooLong: [1] })
  })
})
