import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { definePlug } from '../../../src/core/plug/define.ts'
import { readAnswer, stateIndex } from '../../../src/core/plug/result.ts'

const range = definePlug({
  name: 'range',
  version: '1.0.0',
  kind: 'sensor',
  states: ['Above', 'In Range', 'Below'],
  execute: () => undefined,
})
const mail = definePlug({ name: 'mail', version: '1.0.0', kind: 'actuator', execute: () => undefined })
const nothing = { ok: true, state: -1 }

/** A chain of `length` results. */
function chain(length: number): unknown {
  let result: unknown
  for (let i = 0; i < length; i++)
    result = { state: 'Above', after: 1, ...(result === undefined ? {} : { then: result }) }
  return result
}

describe('stateIndex', () => {
  it.each([
    ['Above', 0],
    ['Below', 2],
    ['below', -1],
    ['', -1],
  ])('of %j is %i', (state, index) => expect(stateIndex(range, state)).toBe(index))
})

describe('readAnswer', () => {
  it.each([
    ['undefined as nothing', undefined, nothing],
    ['null as nothing', null, nothing],
    ['an empty object as nothing', {}, nothing],
    ['a bare state', 'In Range', { ok: true, state: 1 }],
    ['an object with a state', { state: 'Below' }, { ok: true, state: 2 }],
    ['an object as older scripts give it', { observedState: 'Below' }, { ok: true, state: 2 }],
    ['raw data alone', { rawData: { value: 1 } }, { ...nothing, rawData: { value: 1 } }],
    ['raw data without a prototype', { rawData: Object.create(null) as object }, { ...nothing, rawData: {} }],
    [
      'internal state and a message',
      { internalState: 0, message: 'hi' },
      { ...nothing, internalState: 0, message: 'hi' },
    ],
    ['an internal state of null', { internalState: null }, { ...nothing, internalState: null }],
    ['a delay of 0', { state: 'Above', after: 0 }, { ok: true, state: 0, after: 0 }],
    [
      'a later result',
      { state: 'Above', then: { state: 'Below', after: 500 } },
      { ok: true, state: 0, then: { ok: true, state: 2, after: 500 } },
    ],
    ['fields it does not know', { state: 'Above', other: 1 }, { ok: true, state: 0 }],
  ])('reads %s', (_, answer, expected) => expect(readAnswer(range, answer)).toEqual(expected))

  it('reads the answer of an actuator', () => {
    expect(readAnswer(mail, { message: 'sent' })).toEqual({ ...nothing, message: 'sent' })
  })

  it.each([
    [
      'a state that is not declared',
      'below',
      'State below is invalid for plug range; it can be Above, In Range, Below',
    ],
    [
      'such a state in an object',
      { state: 'x' },
      'State x is invalid for plug range; it can be Above, In Range, Below',
    ],
    ['a state that is no text', { state: 1 }, 'State 1 is invalid for plug range; it can be Above, In Range, Below'],
    ['an empty state', '', 'State "" is invalid for plug range; it can be Above, In Range, Below'],
    ['a number', 5, 'plug range answered 5; give a state or an object'],
    ['an array', ['Above'], 'plug range answered ["Above"]'],
    ['a promise within', Promise.resolve('Above'), 'plug range answered'],
    ['raw data that is a list', { rawData: [1] }, 'gave [1] as rawData'],
    ['raw data of a class', { rawData: new Map() }, 'as rawData'],
    [
      'raw data with the key __proto__',
      { rawData: JSON.parse('{"__proto__":1}') as unknown },
      'keys __proto__, constructor',
    ],
    ['raw data with the key constructor', { rawData: { constructor: 1 } }, 'keys __proto__, constructor'],
    ['raw data with the key prototype', { rawData: { prototype: 1 } }, 'keys __proto__, constructor'],
    ['a bigint in raw data', { rawData: { a: { b: 1n } } }, 'plug range gave rawData.a.b, which is a bigint'],
    ['NaN in raw data', { rawData: { value: Number.NaN } }, 'gave rawData.value, which is NaN'],
    ['a map in raw data', { rawData: { m: new Map() } }, 'gave rawData.m, which is an object of the class Map'],
    ['a function as memory', { internalState: () => 1 }, 'gave internalState, which is a function'],
    ['a date in a memory', { internalState: { at: [new Date(0)] } }, 'gave internalState.at[0], which is an object'],
    ['a set further on', { then: { after: 1, rawData: { s: new Set() } } }, 'gave then.rawData.s, which is an object'],
    [
      'what cannot be read',
      Object.defineProperty({}, 'state', {
        get: () => {
          throw new Error('shut')
        },
      }),
      'gave an answer that cannot be read: shut',
    ],
    ['a message that is no text', { message: 5 }, 'gave 5 as message'],
    ['a negative delay', { after: -1 }, 'gave -1 as after'],
    ['a delay that is NaN', { after: Number.NaN }, 'gave NaN as after'],
    ['an endless delay', { after: Number.POSITIVE_INFINITY }, 'gave Infinity as after'],
    ['a delay as text', { after: '5m' }, 'gave "5m" as after'],
    ['a later result without a delay', { then: { state: 'Above' } }, 'without its own after'],
    ['a later result that is a function', { then: () => 'Above' }, 'plug range answered a function'],
    ['a wrong state further on', { then: { state: 'x', after: 1 } }, 'State x is invalid for plug range'],
  ])('refuses %s', (_, answer, text) => {
    const read = readAnswer(range, answer)
    expect(read.ok ? 'accepted' : read.error).toContain(text)
  })

  it('leaves out what an actuator gives as memory, which it does not have', () => {
    expect(readAnswer(mail, { message: 'sent', internalState: 1n }).ok).toBe(true)
  })

  it('refuses a state from an actuator', () => {
    expect(readAnswer(mail, 'Sent')).toEqual({
      ok: false,
      error: 'State Sent is invalid for plug mail; it has no states',
    })
  })

  it('follows a chain of 16 later results and no more', () => {
    expect(readAnswer(range, chain(17)).ok).toBe(true)
    expect(readAnswer(range, chain(18)).ok).toBe(false)
  })

  it('names at most 20 states', () => {
    const states = Array.from({ length: 100 }, (_, i) => `s${i}`)
    const many = definePlug({ name: 'many', version: '1.0.0', kind: 'sensor', states, execute: () => undefined })
    const read = readAnswer(many, 'x')
    expect(read.ok ? '' : read.error).toMatch(/s19 and 80 more$/)
  })

  it('never throws, and a state it gives is one of the declared', () => {
    fc.assert(
      fc.property(fc.anything(), (answer) => {
        const read = readAnswer(range, answer)
        expect(read.ok ? range.states[read.state] !== undefined || read.state === -1 : read.error.length > 0).toBe(true)
      }),
    )
  })
})
