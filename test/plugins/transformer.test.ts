import { describe, expect, it } from 'vitest'
import { createTransformer } from '../../plugins/transformer/plug.ts'
import { checkPlug, runPlug, runPlugLater } from '../support/plug-context.ts'
import { Sandbox } from '../../src/core/language/script/sandbox.ts'

const transformer = createTransformer(new Sandbox())

const run = (text: string) =>
  runPlug(transformer, { properties: { transformer: text }, message: { t: 20, list: [1, 2] }, nodes: { n: { v: 3 } } })

describe('transformer', () => {
  it.each([
    ['{ f: t * 1.8 + 32, n: nodes.n.rawData.v }', { f: 68, n: 3 }],
    ['({ doubled: list.map(x => x * 2) })', { doubled: [2, 4] }],
    ['{ s: $${nodes.n.rawData.v} + 1 }', { s: 4 }],
  ])('%s returns %j', (text, rawData) => {
    expect(run(text)).toMatchObject({ state: 'Success', rawData })
  })

  it.each([
    ['t', 'does not return an object'],
    ['list', 'does not return an object'],
    ['{ ratio: t / 0 }', 'the expression returned result.ratio, which is Infinity'],
    ['{ list: [t % 0] }', 'the expression returned result.list[0], which is NaN'],
    ['{ x: gone + 1 }', '"gone" has no value'],
  ])('%s returns Error without failing: %s', (text, reason) => {
    const ran = run(text)
    expect(ran.state).toBe('Error')
    expect(ran.rawData?.['error']).toContain(reason)
  })

  it('rejects what is not an expression', () => {
    expect(checkPlug(transformer, { transformer: '{ a: ' }).join()).toContain('column')
  })

  it('accepts statements, which run in the sandbox', async () => {
    const call = { message: { t: 20, list: [1, 2] } }
    const ran = await runPlugLater(transformer, {
      ...call,
      properties: { transformer: 'const sum = list.reduce(function (a, b) { return a + b }); return { sum, t }' },
    })
    expect(ran).toMatchObject({ state: 'Success', rawData: { sum: 3, t: 20 } })
    const failed = await runPlugLater(transformer, {
      ...call,
      properties: { transformer: 'while (true) {} return {}' },
    })
    expect(failed).toMatchObject({
      state: 'Error',
      rawData: { error: expect.stringContaining('too many steps') as string },
    })
  })
})
