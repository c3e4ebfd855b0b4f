import { describe, expect, it } from 'vitest'
import { readOptions, type SimulateFlags } from '../../src/cli/simulate-options.ts'

const flags: SimulateFlags = { messages: 'm.csv', set: [], zone: 'UTC', plugs: [] }

describe('readOptions', () => {
  it('reads variables as JSON where they are JSON, else as text', () => {
    const set = ['limit=90', 'on=true', 'text="90"', 'door=front-door', 'expr=a=b', 'none=']
    expect(readOptions('r.json', { ...flags, set }).variables).toEqual({
      limit: 90,
      on: true,
      text: '90',
      door: 'front-door',
      expr: 'a=b',
      none: '',
    })
  })

  it('reads times in the zone', () => {
    const options = readOptions('r.json', {
      ...flags,
      zone: 'Europe/Brussels',
      from: '2025-07-01',
      until: '1751353200000',
    })
    expect(options.from).toBe(Date.parse('2025-06-30T22:00:00Z'))
    expect(options.until).toBe(1_751_353_200_000)
  })

  it('refuses an epoch number of seconds, and says what it is in milliseconds', () => {
    expect(() => readOptions('r.json', { ...flags, until: '1751353200' })).toThrow(
      '--until: 1751353200 seems to be in seconds; write milliseconds: 1751353200000',
    )
  })

  it('reads how the recording is to be read, and reports all that is wrong with it', () => {
    const { reading } = readOptions('r.json', { ...flags, unit: 'us', encoding: 'latin1', types: 'a=text' })
    expect(reading).toEqual({ unit: 'us', encoding: 'latin1', types: new Map([['a', 'text']]) })
    expect(() => readOptions('r.json', { ...flags, unit: 'days', encoding: 'ascii', types: 'a' })).toThrow(
      /--unit: "days" is not valid; write one of s, ms, us\n.*--encoding: "ascii" is not valid; write one of utf-8, latin1\n.*--types: "a" is not a valid metric type/,
    )
  })

  it('takes the whole of an hour that occurs twice', () => {
    const twice = '2025-10-26 02:30:00'
    const { from = 0, until = 0 } = readOptions('r.json', {
      ...flags,
      zone: 'Europe/Brussels',
      from: twice,
      until: twice,
    })
    expect(until - from).toBe(3_600_000)
  })

  it('reports all that is wrong at once', () => {
    const bad: SimulateFlags = { set: ['a', '__proto__=1'], zone: 'Mars', from: 'soon', seed: '-1', plugs: [] }
    const order = /--zone: .*\n.*--from: .*\n.*--seed: .*\n.*--set: "a".*\n.*--set: .*__proto__.*\n.*nothing to run/
    expect(() => readOptions('r.json', bad)).toThrow(order)
  })

  it.each([
    [{ from: '2025-01-02', until: '2025-01-01' }, '--until: the time is before --from'],
    [{ seed: '4294967296' }, '"4294967296" is not a seed'],
    [{ seed: '1.5' }, '"1.5" is not a seed'],
  ])('refuses %j', (more, message) => {
    expect(() => readOptions('r.json', { ...flags, ...more })).toThrow(message)
  })

  it('refuses standard input for both files', () => {
    expect(() => readOptions('-', { ...flags, messages: '-' })).toThrow('only one of the rule and --messages')
  })
})
