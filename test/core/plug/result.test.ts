import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { definePlug } from '../../../src/core/plug/define.ts'
import { readAnswer, stateIndex } from '../../../src/core/plug/result.ts'
import { sensorPlug } from '../../support/make-plug.ts'

const range = sensorPlug('range', ['Above', 'In Range', 'Below'], () => undefined)
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

  it('reads the response of an actuator', () => {
    expect(readAnswer(mail, { message: 'sent' })).toEqual({ ...nothing, message: 'sent' })
  })

  it.each([
    ['below', 'State below is invalid for plug range; it can be Above, In Range, Below'],
    [{ state: 'x' }, 'State x is invalid for plug range; it can be Above, In Range, Below'],
    [{ state: 1 }, 'State 1 is invalid for plug range; it can be Above, In Range, Below'],
    ['', 'State "" is invalid for plug range; it can be Above, In Range, Below'],
    [5, 'plug range returned 5; return a state or an object'],
    [['Above'], 'plug range returned ["Above"]'],
    [Promise.resolve('Above'), 'plug range returned'],
    [{ rawData: [1] }, 'returned [1] as rawData'],
    [{ rawData: new Map() }, 'as rawData'],
    [{ rawData: JSON.parse('{"__proto__":1}') as unknown }, 'keys __proto__, constructor'],
    [{ rawData: { constructor: 1 } }, 'keys __proto__, constructor'],
    [{ rawData: { prototype: 1 } }, 'keys __proto__, constructor'],
    [{ rawData: { a: { b: 1n } } }, 'plug range returned rawData.a.b, which is a bigint'],
    [{ rawData: { value: Number.NaN } }, 'returned rawData.value, which is NaN'],
    [{ rawData: { m: new Map() } }, 'returned rawData.m, which is an object of the class Map'],
    [{ internalState: () => 1 }, 'returned internalState, which is a function'],
    [{ internalState: { at: [new Date(0)] } }, 'returned internalState.at[0], which is an object'],
    [{ then: { after: 1, rawData: { s: new Set() } } }, 'returned then.rawData.s, which is an object'],
    [
      Object.defineProperty({}, 'state', {
        get: () => {
          throw new Error('shut')
        },
      }),
      'returned an unreadable answer: shut',
    ],
    [{ message: 5 }, 'returned 5 as message'],
    [{ after: -1 }, 'returned -1 as after'],
    [{ after: Number.NaN }, 'returned NaN as after'],
    [{ after: Number.POSITIVE_INFINITY }, 'returned Infinity as after'],
    [{ after: '5m' }, 'returned "5m" as after'],
    [{ then: { state: 'Above' } }, 'without its own after'],
    [{ then: () => 'Above' }, 'plug range returned a function'],
    [{ then: { state: 'x', after: 1 } }, 'State x is invalid for plug range'],
  ])('rejects %s: %s', (answer, text) => {
    const read = readAnswer(range, answer)
    expect(read.ok ? 'accepted' : read.error).toContain(text)
  })

  it('omits what an actuator returns as memory, which it does not have', () => {
    expect(readAnswer(mail, { message: 'sent', internalState: 1n }).ok).toBe(true)
  })

  it('rejects a state from an actuator', () => {
    expect(readAnswer(mail, 'Sent')).toEqual({
      ok: false,
      error: 'State Sent is invalid for plug mail; it has no states',
    })
  })

  it('follows a chain of at most 16 later results', () => {
    expect(readAnswer(range, chain(17)).ok).toBe(true)
    expect(readAnswer(range, chain(18)).ok).toBe(false)
  })

  it('names at most 20 states', () => {
    const states = Array.from({ length: 100 }, (_, i) => `s${i}`)
    const many = definePlug({ name: 'many', version: '1.0.0', kind: 'sensor', states, execute: () => undefined })
    const read = readAnswer(many, 'x')
    expect(read.ok ? '' : read.error).toMatch(/s19 and 80 more$/)
  })

  it('never throws, and a state it returns is one of the declared', () => {
    fc.assert(
      fc.property(fc.anything(), (answer) => {
        const read = readAnswer(range, answer)
        expect(read.ok ? range.states[read.state] !== undefined || read.state === -1 : read.error.length > 0).toBe(true)
      }),
    )
  })
})
