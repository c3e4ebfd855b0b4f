import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { documentChanges } from '../../../src/services/rules/document-changes.ts'

describe('the differences between two documents', () => {
  it.each([
    [{ a: 1 }, { a: 1 }, []],
    [{ a: 1 }, { a: 2 }, [{ path: '/a', from: 1, to: 2 }]],
    [{ a: 1 }, {}, [{ path: '/a', from: 1 }]],
    [{}, { a: [1] }, [{ path: '/a', to: [1] }]],
    [
      { a: [1, 2] },
      { a: [1, 3, 4] },
      [
        { path: '/a/1', from: 2, to: 3 },
        { path: '/a/2', to: 4 },
      ],
    ],
    [{ 'a/b~c': { d: true } }, { 'a/b~c': { d: false } }, [{ path: '/a~1b~0c/d', from: true, to: false }]],
    [{ a: {} }, { a: [] }, [{ path: '/a', from: {}, to: [] }]],
  ])('%j and %j are %j', (from, to, expected) => {
    expect(documentChanges(from, to)).toEqual(expected)
  })

  it('are empty for any document and its copy', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (document) => {
        expect(documentChanges(document, structuredClone(document))).toEqual([])
      }),
    )
  })
})
