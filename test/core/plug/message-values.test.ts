import { describe, expect, it } from 'vitest'
import { messageNumber, messageText } from '../../../src/core/plug/message-values.ts'

function over(streamData: Record<string, unknown>) {
  return { streamData, streamValue: (key: string) => streamData[key] }
}

const refused: Error = expect.objectContaining({ code: 'PLUG_FAILED' }) as Error

describe('number of a context', () => {
  it.each([
    [5, 5],
    [0, 0],
    ['5.5', 5.5],
    ['-3', -3],
  ])('reads %j as %d', (value, expected) => expect(messageNumber(over({ value }), 'value')).toBe(expected))

  it.each([
    ['warm'], [''], ['0x10'], ['1e3'], ['0123'], [' 5 '], [null], [true], [[1]], [{}], [Number.NaN], [Infinity], [2 ** 53],
  ])('rejects %j', (value) => expect(() => messageNumber(over({ value }), 'value')).toThrow(refused)) // prettier-ignore

  it('counts booleans only for a plug that requests it', () => {
    const counted = (value: unknown) => messageNumber(over({ value }), 'value', { booleans: true })
    expect([counted(true), counted(false), counted('2')]).toEqual([1, 0, 2])
    expect(() => counted('true')).toThrow(refused)
  })

  it('reports the problem, and the values that the message has instead', () => {
    expect(() => messageNumber(over({ value: null }), 'value')).toThrow('must be a number, but is null')
    expect(() => messageNumber(over({ value: '0123' }), 'value')).toThrow(
      'is the text "0123", which is not a plain decimal',
    )
    expect(() => messageNumber(over({ other: 1 }), 'value')).toThrow(
      'the parameter "value" is missing in the message, which has other',
    )
    expect(() => messageNumber(over({ value: 1e20 }), 'value')).toThrow('beyond 2^53')
  })
})

describe('text of a context', () => {
  it.each([
    ['', ''],
    ['0123', '0123'],
    [21.5, '21.5'],
    [false, 'false'],
  ])('reads %j as %j', (value, expected) => expect(messageText(over({ value }), 'value')).toBe(expected))

  it.each([[null], [undefined], [Number.NaN], [2 ** 60], [[1]], [{}]])('rejects %j', (value) => {
    expect(() => messageText(over({ value }), 'value')).toThrow(refused)
  })
})
