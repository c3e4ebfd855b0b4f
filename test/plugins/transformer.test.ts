import { describe, expect, it } from 'vitest'
import { transformer } from '../../plugins/transformer/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

const run = (text: string) =>
  runPlug(transformer, { properties: { transformer: text }, message: { t: 20, list: [1, 2] }, nodes: { n: { v: 3 } } })

describe('transformer', () => {
  it.each([
    ['{ f: t * 1.8 + 32, n: nodes.n.rawData.v }', { f: 68, n: 3 }],
    ['({ doubled: list.map(x => x * 2) })', { doubled: [2, 4] }],
    ['{ s: $${nodes.n.rawData.v} + 1 }', { s: 4 }],
  ])('%s gives %j', (text, rawData) => {
    expect(run(text)).toMatchObject({ state: 'Success', rawData })
  })

  it.each([
    ['t', 'gives no object'],
    ['list', 'gives no object'],
    ['{ x: gone + 1 }', '"gone" has no value'],
  ])('%s gives Error, and no failure: %s', (text, reason) => {
    const ran = run(text)
    expect(ran.state).toBe('Error')
    expect(ran.rawData?.['error']).toContain(reason)
  })

  it('refuses what is no expression', () => {
    expect(checkPlug(transformer, { transformer: '{ a: ' }).join()).toContain('column')
  })
})
