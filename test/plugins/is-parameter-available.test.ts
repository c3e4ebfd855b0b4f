import { describe, expect, it } from 'vitest'
import { isParameterAvailable } from '../../plugins/is-parameter-available/plug.ts'
import { runPlug } from '../support/plug-context.ts'

const message = { t: 0, off: false, none: null, deep: { a: [5] }, 'a.b': 1 }
const nodes = { n: { v: 2 } }

describe('isParameterAvailable', () => {
  it('reads the current message, not earlier ones', () => {
    const call = { properties: { parameter: 't' }, message, messageTime: 0, now: 1 }
    expect(runPlug(isParameterAvailable, call)).toMatchObject({ state: 'NO', rawData: {} })
  })

  it.each([
    [{ parameter: 't' }, 'YES', { value: 0 }],
    [{ parameter: 'off' }, 'YES', { value: false }],
    [{ parameter: 'none' }, 'NO', {}],
    [{ parameter: 'gone' }, 'NO', {}],
    [{ parameter: 'deep.a.0' }, 'YES', { value: 5 }],
    [{ parameter: 'a.b' }, 'YES', { value: 1 }],
    [{ parameter: 't', node: 'GLOBAL' }, 'YES', { value: 0 }],
    [{ parameter: 'v', node: 'n' }, 'YES', { value: 2 }],
    [{ parameter: 'v', node: 'other' }, 'NO', {}],
    [{ parameter: 'constructor' }, 'NO', {}],
    [{ parameter: 't.toFixed' }, 'NO', {}],
  ])('with %j is %s', (properties, state, rawData) => {
    expect(runPlug(isParameterAvailable, { properties, message, nodes })).toMatchObject({ state, rawData })
  })
})
