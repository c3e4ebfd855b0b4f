/** Tests that lists survive encoding in headers, up to the size limit. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { headerOfList, listOfHeader } from '../../../../src/services/shared/http/header-list.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

it('is ASCII on one line, and decodes to the list', () => {
  const item = fc.record({ message: fc.string({ unit: 'grapheme', maxLength: 20 }), level: fc.constant('info') })
  fc.assert(
    fc.property(fc.array(item, { maxLength: 8 }), (list) => {
      const header = headerOfList(list)
      expect(header ?? '').toMatch(/^[ -~]*$/)
      expect(listOfHeader(header ?? null)).toEqual(list)
    }),
    runs(200),
  )
})

it('omits entries beyond the size of a header', () => {
  const list = Array.from({ length: 100 }, (_, i) => ({ i, text: 'é'.repeat(40) }))
  const header = headerOfList(list) ?? ''
  expect(header.length).toBeLessThanOrEqual(4_000)
  expect(listOfHeader(header)).toEqual(list.slice(0, listOfHeader(header).length))
  expect(listOfHeader(header).length).toBeGreaterThan(5)
  expect(headerOfList([{ text: 'x'.repeat(5_000) }])).toBeUndefined()
})
