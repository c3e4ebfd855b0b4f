import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../../src/index.ts'
import { messageStreams, readings, type Disturbance, type StreamOptions } from '../../../src/testing/index.ts'

const metrics = { t: readings(0, 100), on: fc.boolean() }

function sample(options: Partial<StreamOptions>, count = 300): readonly (readonly Message[])[] {
  return fc.sample(messageStreams({ metrics, ...options }), { numRuns: count, seed: 1 })
}
const time = ({ timestamp }: Message): number => Number(timestamp)
/**
 * Returns whether a message corrects one: it repeats the previous time of its resource with other values, after a newer
 * message.
 */
const corrects = (message: Message, before: readonly Message[]): boolean =>
  time(before.at(-1) ?? message) > time(message) &&
  before.some((other) => other.resource === message.resource && other.timestamp === message.timestamp)
/** Returns whether a resource's clock was set back: its later messages all have times before the first message. */
const isSetBack = ([first, ...rest]: readonly Message[], resource: string): boolean => {
  const own = rest.filter((message) => message.resource === resource)
  return own.length > 1 && first !== undefined && own.every((message) => time(message) < time(first))
}
const goesBack = (stream: readonly Message[]): boolean =>
  stream.some((message, i) => i > 0 && time(message) < time(stream[i - 1] ?? message))

describe('a stream without disturbances', () => {
  it('ascends in time and has every value, a number or a boolean', () => {
    for (const stream of sample({ disturbances: [], maxLength: 20 })) {
      expect(goesBack(stream)).toBe(false)
      expect(stream.length).toBeLessThanOrEqual(20)
      for (const message of stream) {
        expect(Object.keys(message).toSorted()).toEqual(['on', 'resource', 't', 'timestamp'])
        expect(Number.isFinite(message['t'])).toBe(true)
        expect(message.resource).toBe('r1')
      }
    }
  })

  it('begins at the configured time', () => {
    const streams = sample({ disturbances: [], start: '2025-01-01', every: '10s' }, 50)
    const starts = streams.flatMap(([first]) => (first === undefined ? [] : [time(first)]))
    expect(starts.length).toBeGreaterThan(40)
    expect(Math.max(...starts) - Date.parse('2025-01-01')).toBeLessThanOrEqual(20_000)
  })
})

describe('a disturbance', () => {
  const has: [Disturbance, (stream: readonly Message[]) => boolean][] = [
    ['late', goesBack],
    ['duplicate', (stream) => stream.some((message, i) => message === stream[i + 1])],
    ['missing', (stream) => stream.some((message) => !('t' in message) || !('on' in message))],
    ['nan', (stream) => stream.some((message) => Number.isNaN(message['t']))],
    ['null', (stream) => stream.some((message) => message['t'] === null)],
    ['blank', (stream) => stream.some(({ t }) => typeof t === 'string' && t.trim() === '')],
    ['text', (stream) => stream.some(({ t }) => typeof t === 'string' && t.trim() !== '')],
    ['correction', (stream) => stream.some((message, i) => corrects(message, stream.slice(0, i)))],
    ['skew', goesBack],
    ['back', (stream) => stream.some((message, i) => i > 0 && isSetBack(stream.slice(i - 1), message.resource))],
    [
      'gap',
      (stream) => stream.some((message, i) => i > 0 && time(message) - time(stream[i - 1] ?? message) >= 600_000),
    ],
    ['dst', (stream) => stream.some((message) => new Date(time(message)).toISOString().startsWith('2025-10-26'))],
  ]

  it.each(has)('%s occurs if requested, and not otherwise', (disturbance, seen) => {
    const resources = ['a', 'b']
    expect(sample({ resources, disturbances: [disturbance] }).some(seen)).toBe(true)
    // Wrong timestamps also look like silence
    const lying = [disturbance, 'late', 'skew', 'back', 'correction']
    const calm = has.map(([name]) => name).filter((name) => !lying.includes(name))
    expect(sample({ resources, disturbances: calm }).some(seen)).toBe(false)
  })
})

describe('messageStreams', () => {
  it.each([[[]], [['late']], [['skew', 'missing']], [['nan', 'late']], [['correction', 'back']]] satisfies [
    Disturbance[],
  ][])('repeats no reading by chance, with %j', (disturbances) => {
    for (const stream of sample({ metrics: { on: fc.boolean() }, disturbances })) {
      expect(new Set(stream.map((message) => JSON.stringify(message))).size).toBe(stream.length)
    }
  })

  it('assigns each resource its own metrics', () => {
    const streams = sample({ resources: ['a', 'b'], byResource: { b: { level: fc.nat(3) } }, disturbances: [] }, 50)
    for (const message of streams.flat()) expect('level' in message).toBe(message.resource === 'b')
  })

  it('shrinks to one plain message, or none', () => {
    const none = fc.check(fc.property(messageStreams({ metrics }), () => false))
    expect(none.counterexample).toEqual([[]])
    const { counterexample } = fc.check(
      fc.property(messageStreams({ metrics }), ({ length }) => length === 0),
      { seed: 5 },
    )
    expect(counterexample).toMatchObject([[{ resource: 'r1', t: 0, on: false }]])
    expect(counterexample?.[0]).toHaveLength(1)
  })

  it.each(['x', Number.NaN])('rejects the start %j', (start) => {
    expect(() => messageStreams({ metrics, start })).toThrow('use epoch ms or an ISO 8601 time')
  })
})

describe('readings', () => {
  it('lie between the limits, in steps, and often at the limits', () => {
    const drawn = fc.sample(readings(-1, 1, 2), { numRuns: 300, seed: 1 })
    for (const value of drawn) {
      expect(Math.abs(value)).toBeLessThanOrEqual(1)
      expect(Number(value.toFixed(2))).toBe(value)
    }
    expect(drawn.filter((value) => Math.abs(value) === 1).length).toBeGreaterThan(10)
  })
})
