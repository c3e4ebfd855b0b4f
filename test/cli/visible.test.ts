import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { visible } from '../../src/cli/visible.ts'

describe('visible', () => {
  it('takes escape sequences and line breaks out of a text', () => {
    expect(visible('a\nb\u001b[31mred\u009b2J')).toBe('a b [31mred 2J')
  })

  it('leaves other text alone', () => {
    expect(visible('21 °C, 漢字 😀')).toBe('21 °C, 漢字 😀')
  })

  it('never leaves a control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(visible(text)).not.toMatch(/\p{Cc}/u)
      }),
    )
  })
})
