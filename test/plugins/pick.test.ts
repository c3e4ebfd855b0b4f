import { describe, expect, it } from 'vitest'
import { pick } from '../../plugins/pick/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

describe('pick', () => {
  it.each([
    ['a, c', 'Collected', { a: 1, c: null }],
    ['a,gone', 'Collected', { a: 1 }],
    ['gone', 'Not Collected', {}],
    ['__proto__, constructor, toString', 'Not Collected', {}],
  ])('%s returns %s', (properties, state, data) => {
    const ran = runPlug(pick, { properties: { object: { a: 1, b: 2, c: null }, properties } })
    expect(ran).toMatchObject({ state, rawData: { data } })
  })

  it('rejects a list without names', () => {
    expect(checkPlug(pick, { properties: ' , ' })).toHaveLength(1)
    expect(checkPlug(pick, { properties: 'a' })).toEqual([])
  })
})
