/** Tests that blocks of samples are sorted into the order in which they are folded. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  CODE,
  codeOf,
  EXPIRES,
  kindOfCode,
  NUMBER,
  SAMPLE,
  seriesOfCode,
  TEXT,
  TIME,
  TRUTH,
  VALUE,
  type SampleBlock,
} from '../../../src/storage/sqlite/sample-block.ts'
import { sortSamples } from '../../../src/storage/sqlite/series-compactor.ts'

interface Given {
  readonly series: number
  readonly time: number
  readonly value: number | string | boolean
  readonly expires: number | undefined
}

function blockOf(samples: readonly Given[]): SampleBlock {
  const words = [...new Set(samples.map(({ value }) => value).filter((value) => typeof value === 'string'))]
  const numbers = samples.flatMap(({ series, time, value, expires = Number.NaN }) => {
    if (typeof value === 'number') return [codeOf(series, NUMBER), time, value, expires]
    if (typeof value === 'boolean') return [codeOf(series, TRUTH), time, Number(value), expires]
    return [codeOf(series, TEXT), time, words.indexOf(value), expires]
  })
  return { samples: Float64Array.from(numbers), words }
}

function sampleAt({ samples, words }: SampleBlock, index: number): Given {
  const [code = 0, time = 0, value = 0, expires] = [CODE, TIME, VALUE, EXPIRES].map(
    (of) => samples[index * SAMPLE + of],
  )
  const kind = kindOfCode(code)
  return {
    series: seriesOfCode(code),
    time,
    value: kind === NUMBER ? value : kind === TRUTH ? value === 1 : (words[value] ?? ''),
    expires: Number.isNaN(expires) ? undefined : expires,
  }
}

const given: fc.Arbitrary<Given> = fc.record({
  series: fc.constantFrom(1, 2, 3, 2 ** 40),
  time: fc.integer({ min: -3, max: 3 }),
  value: fc.oneof(fc.double({ noNaN: true }), fc.boolean(), fc.constantFrom('', 'on', 'off')),
  expires: fc.option(fc.integer(), { nil: undefined }),
})

describe('sorted blocks', () => {
  it('have each sample once, by series and time, and of several at the same the one that came last', () => {
    fc.assert(
      fc.property(fc.array(fc.array(given, { maxLength: 20 }), { maxLength: 5 }), (blocks) => {
        const last = new Map(blocks.flat().map((one) => [`${one.series} ${one.time}`, one]))
        const expected = [...last.values()].sort((a, b) => a.series - b.series || a.time - b.time)
        const sorted = sortSamples(blocks.map(blockOf))
        expect([...sorted.order].map((index) => sampleAt(sorted, index))).toEqual(expected)
      }),
    )
  })
})
