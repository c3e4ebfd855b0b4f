import { describe, expect, it } from 'vitest'
import { readOptions, type SimulateFlags } from '../../../src/host/cli/simulate-options.ts'

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
      until: '1751353200',
    })
    expect(options.from).toBe(Date.parse('2025-06-30T22:00:00Z'))
    expect(options.until).toBe(1_751_353_200_000)
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
    [{ from: '2025-01-02', until: '2025-01-01' }, '--until: it lies before --from'],
    [{ seed: '4294967296' }, '"4294967296" is not a seed'],
    [{ seed: '1.5' }, '"1.5" is not a seed'],
  ])('refuses %j', (more, message) => {
    expect(() => readOptions('r.json', { ...flags, ...more })).toThrow(message)
  })

  it('refuses standard input for both files', () => {
    expect(() => readOptions('-', { ...flags, messages: '-' })).toThrow('only one of the rule and --messages')
  })
})
