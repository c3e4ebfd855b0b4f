import { describe, expect, it } from 'vitest'
import { json } from '../../plugins/json/plug.ts'
import { runPlug } from '../support/plug-context.ts'

describe('JSON', () => {
  it.each([
    ['text of an object', '{"a":{"b":[1,null]}}', { a: { b: [1, null] } }],
    ['an empty object', '{}', {}],
    ['an object that a placeholder gave', { a: 1 }, { a: 1 }],
  ])('returns Done with %s as raw data', (_, message, rawData) => {
    const ran = runPlug(json, { properties: { message } })
    expect(ran.state).toBe('done')
    expect(ran.rawData).toStrictEqual(rawData)
  })

  it.each([
    ['a list', '[1]', 'it is JSON, but not an object'],
    ['a number', 5, 'it is JSON, but not an object'],
    ['empty text', '', 'the message is not a JSON object'],
    ['torn text', '{"a":', 'the message is not a JSON object'],
    ['a key that reaches a prototype', '{"a":{"__proto__":{}}}', 'it has the key "__proto__", which is not allowed'],
    ['deep nesting', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`, 'it is nested deeper than 100 levels'],
  ])('returns Error for %s', (_, message, text) => {
    const ran = runPlug(json, { properties: { message } })
    expect(ran.state).toBe('error')
    expect(ran.rawData?.['error']).toContain(text)
  })
})
