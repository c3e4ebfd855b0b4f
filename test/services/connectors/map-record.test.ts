import { describe, expect, it } from 'vitest'
import { isPlainObject } from '../../../src/kernel/json.ts'
import { mappedRecord } from '../../../src/services/connectors/map-record.ts'
import type { SourceRecord } from '../../../src/services/connectors/port.ts'
import { parseMessages } from '../../../src/services/shared/http/parse-body.ts'

const record = (payload: unknown, more: Partial<SourceRecord> = {}): SourceRecord => {
  const bytes = payload instanceof Uint8Array ? payload : Buffer.from(JSON.stringify(payload))
  return { id: 't/0/0', topic: 'plant/boiler-1/up', payload: bytes, ...more }
}
const NOON = 1_700_000_000_000

describe('a record becomes messages', () => {
  it.each([
    ['of its key', {}, record({ a: 1 }, { key: 'k' }), [{ resource: 'k', a: 1 }]],
    ['of its topic', { resource: 'topic' }, record({ a: 1 }), [{ resource: 'plant/boiler-1/up', a: 1 }]],
    ['of a level of its topic', { resource: 'topic/1' }, record({ a: 1 }), [{ resource: 'boiler-1', a: 1 }]],
    ['of a header', { resource: 'header/d' }, record({ a: 1 }, { headers: { d: 'x' } }), [{ resource: 'x', a: 1 }]],
    ['of a member, which is not a metric', { resource: '/id' }, record({ id: 7, a: 1 }), [{ resource: '7', a: 1 }]],
    [
      'of a nested member, with nested metrics',
      { resource: '/device/id', metrics: '/values' },
      record({ device: { id: 'x' }, values: { a: 1 } }),
      [{ resource: 'x', a: 1 }],
    ],
    [
      'one for each item of a list',
      { resource: '/id' },
      record([
        { id: 'x', a: 1 },
        { id: 'y', a: 2 },
      ]),
      [
        { resource: 'x', a: 1 },
        { resource: 'y', a: 2 },
      ],
    ],
    ['of a single value', {}, record(21.5, { key: 'k' }), [{ resource: 'k', value: 21.5 }]],
    ['of a single value, by name', { metric: 'topic/2' }, record(21.5, { key: 'k' }), [{ resource: 'k', up: 21.5 }]],
    ['at the time of the record', {}, record({ a: 1 }, { key: 'k', time: 5 }), [{ resource: 'k', a: 1, timestamp: 5 }]],
    [
      'at its own timestamp first',
      {},
      record({ a: 1, timestamp: 7 }, { key: 'k', time: 5 }),
      [{ resource: 'k', a: 1, timestamp: 7 }],
    ],
    [
      'at a member in seconds',
      { timestamp: '/at', unit: 's' as const },
      record({ a: 1, at: NOON / 1000 }, { key: 'k', time: 5 }),
      [{ resource: 'k', a: 1, timestamp: NOON }],
    ],
    [
      'at a member in nanoseconds, as text',
      { timestamp: '/at', unit: 'ns' as const },
      record({ a: 1, at: `${NOON}000000` }, { key: 'k' }),
      [{ resource: 'k', a: 1, timestamp: NOON }],
    ],
    [
      'at an ISO 8601 time',
      { timestamp: '/at' },
      record({ a: 1, at: '2026-11-30T12:00:00Z' }, { key: 'k' }),
      [{ resource: 'k', a: 1, timestamp: '2026-11-30T12:00:00Z' }],
    ],
  ])('%s', (_, map, sent, messages) => {
    expect(mappedRecord(sent, 'kafka', map)).toEqual(messages)
  })

  it('of its topic by default over MQTT', () => {
    expect(mappedRecord(record({ a: 1 }), 'mqtt')).toEqual([{ resource: 'plant/boiler-1/up', a: 1 }])
  })

  it.each([
    ['without a key', {}, record({ a: 1 }), 'VALIDATION', /no key/],
    ['without the member', { resource: '/id' }, record({ a: 1 }), 'VALIDATION', /no resource at \/id/],
    ['with an object as resource', { resource: '/id' }, record({ id: {} }), 'VALIDATION', /not a text or a number/],
    ['without metrics', { metrics: '/v' }, record({ a: 1 }, { key: 'k' }), 'VALIDATION', /no metrics at \/v/],
    ['without a timestamp', { timestamp: '/t' }, record({ a: 1 }, { key: 'k' }), 'VALIDATION', /no timestamp at \/t/],
    ['that is not JSON', {}, record(Buffer.from('{'), { key: 'k' }), 'NOT_JSON', /not JSON/],
    ['that is not UTF-8', {}, record(Buffer.from([255, 254]), { key: 'k' }), 'NOT_JSON', /UTF-8/],
    ['that is empty', {}, record(Buffer.alloc(0), { key: 'k' }), 'NOT_JSON', /empty/],
  ])('is refused %s', (_, map, sent, code, message) => {
    const refused = () => mappedRecord(sent, 'kafka', map)
    expect(refused).toThrow(message)
    expect(refused).toThrow(expect.objectContaining({ code }))
  })

  it('keeps the digits of long integers', () => {
    const [message] = mappedRecord(record(Buffer.from('{"a":12345678901234567890}'), { key: 'k' }), 'kafka')
    expect(isPlainObject(message)).toBe(true)
    expect(JSON.stringify(message)).toBe(
      JSON.stringify({ ...(parseMessages('{"a":12345678901234567890}') as object), resource: 'k' }),
    )
  })
})
