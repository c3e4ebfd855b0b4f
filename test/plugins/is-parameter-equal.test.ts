import { describe, expect, it } from 'vitest'
import { isParameterEqual } from '../../plugins/is-parameter-equal/plug.ts'
import { runPlug } from '../support/plug-context.ts'

const message = {
  t: 21.5,
  text: '21.50',
  on: true,
  list: [1, 2],
  word: 'open',
  zero: 0,
  empty: '',
  code: '0123',
  id: '12345678901234567890',
}

describe('isParameterEqual', () => {
  it.each([
    ['t', 21.5, 'YES'],
    ['t', '21.5', 'YES'],
    ['text', 21.5, 'YES'],
    ['t', 21.6, 'NO'],
    ['on', true, 'YES'],
    ['on', 'true', 'NO'],
    ['on', 1, 'NO'],
    ['word', 'open', 'YES'],
    ['word', 'Open', 'NO'],
    ['list', [1, 2], 'YES'],
    ['zero', '', 'NO'],
    ['empty', 0, 'NO'],
    ['code', '123', 'NO'],
    ['code', 123, 'NO'],
    ['code', '0123', 'YES'],
    ['text', '21.5', 'NO'],
    ['id', '12345678901234567891', 'NO'],
  ])('%s compared with %j returns %s', (parameter, value, state) => {
    expect(runPlug(isParameterEqual, { properties: { parameter, value }, message }).state).toBe(state)
  })

  it('reads another node', () => {
    const properties = { node: 'n', parameter: 'v', value: 2 }
    expect(runPlug(isParameterEqual, { properties, nodes: { n: { v: 2 } } })).toMatchObject({
      state: 'YES',
      rawData: { value: 2 },
    })
  })

  it('fails without a value to compare: unknown is not different', () => {
    const properties = { node: 'n', parameter: 'v', value: 2 }
    expect(() => runPlug(isParameterEqual, { properties })).toThrow('node "n" lacks a value of "v"')
    expect(() => runPlug(isParameterEqual, { properties: { parameter: 'v', value: 2 } })).toThrow(
      'the message lacks a value of "v"',
    )
  })

  it.each([null, Number.NaN, 2 ** 60])('fails over %s', (v) => {
    expect(() => runPlug(isParameterEqual, { properties: { parameter: 'v', value: 2 }, message: { v } })).toThrow(
      'lacks a value of',
    )
  })

  it.each(['', 'GLOBAL'])('reads the message for the node %j', (node) => {
    const properties = { node, parameter: 'v', value: 2 }
    expect(runPlug(isParameterEqual, { properties, message: { v: 2 } }).state).toBe('YES')
    expect(() => runPlug(isParameterEqual, { properties })).toThrow('the message lacks a value of "v"')
  })
})
