/** Rules of the Sparkplug B specification for host applications, as tables. */
import { describe, expect, it } from 'vitest'
import { EdgeNodes, sparkplugTopic } from '../../../../src/services/connectors/sparkplug/edge-nodes.ts'
import type { DecodedRecord } from '../../../../src/services/connectors/port.ts'
import { DATA_TYPES, type NewMetric, writePayload } from '../../../../src/services/connectors/sparkplug/payload.ts'
import { bdSeq, read, type WireMetric, type WirePayload, written } from '../../../support/sparkplug-payload.ts'

const N = 'g/n'
const range = (from: number, until: number) => Array.from({ length: until - from + 1 }, (_, i) => from + i)
const temperature = (value: number, more: WireMetric = {}): WireMetric => ({
  name: 'temperature',
  datatype: 10,
  double_value: value,
  ...more,
})

/** Runs messages through one host application. */
class Judge {
  readonly requested: string[] = []
  elapsed = 0
  readonly #timers = new Map<() => void, number>()
  readonly #nodes = new EdgeNodes({
    elapsed: () => this.elapsed,
    later: (ms, work) => {
      this.#timers.set(work, this.elapsed + ms)
      return () => void this.#timers.delete(work)
    },
    requestRebirth: (group, node) => void this.requested.push(`${group}/${node}`),
  })

  take(type: string, payload: WirePayload, device?: string): DecodedRecord {
    const topic = sparkplugTopic(['spBv1.0', 'g', type, 'n', ...(device === undefined ? [] : [device])].join('/'))
    if (topic === undefined) throw new Error(`${type} is not a topic`)
    return this.#nodes.take(topic, written(payload))
  }

  /** Lets ms pass. */
  wait(ms: number): void {
    this.elapsed += ms
    for (const [work, due] of this.#timers) {
      if (due > this.elapsed) continue
      this.#timers.delete(work)
      work()
    }
  }

  get waits(): number {
    return this.#timers.size
  }

  close(): void {
    this.#nodes.close()
  }

  /** A node with one device, both born. */
  static born(): Judge {
    const judge = new Judge()
    judge.take('NBIRTH', { seq: 0, timestamp: 1, metrics: [bdSeq(4), temperature(20, { alias: 7 })] })
    judge.take('DBIRTH', { seq: 1, timestamp: 1, metrics: [temperature(30, { alias: 8 })] }, 'd')
    return judge
  }
}

const online = (resource: string) => ({ resource, presence: 'online' })
const offline = (resource: string) => ({ resource, presence: 'offline' })

// Holds SPARKPLUG-2
describe('births and deaths', () => {
  it('are online with all metrics, and offline with the devices of the node', () => {
    const judge = new Judge()
    const birth = {
      seq: 0,
      timestamp: 5,
      metrics: [bdSeq(4), temperature(20), temperature(1, { name: 'p/x', timestamp: 3 })],
    }
    expect(judge.take('NBIRTH', birth)).toEqual({
      messages: [
        { resource: N, timestamp: 5, temperature: 20 },
        { resource: N, timestamp: 3, 'p/x': 1 },
      ],
      attributes: [online(N)],
    })
    expect(judge.take('DBIRTH', { seq: 1, timestamp: 6, metrics: [temperature(30)] }, 'd').attributes).toEqual([
      online(`${N}/d`),
    ])
    expect(judge.take('NDEATH', { metrics: [bdSeq(4)] })).toEqual({
      messages: [],
      attributes: [offline(N), offline(`${N}/d`)],
    })
    expect(judge.requested).toEqual([])
  })

  it.each<[string, WirePayload, number]>([
    ['of the connection of the birth counts', { metrics: [bdSeq(4)] }, 2],
    ['of an earlier connection has no effect', { metrics: [bdSeq(3)] }, 0],
    ['without a number has no effect', {}, 0],
  ])('a death of a node %s', (_, payload, count) => {
    expect(Judge.born().take('NDEATH', payload).attributes ?? []).toHaveLength(count)
  })

  it('a device that dies leaves its node online', () => {
    const judge = Judge.born()
    expect(judge.take('DDEATH', { seq: 2 }, 'd').attributes).toEqual([offline(`${N}/d`)])
    expect(judge.take('NDATA', { seq: 3, timestamp: 2, metrics: [temperature(21)] }).messages).toHaveLength(1)
    expect(judge.requested).toEqual([])
  })

  it('a birth of a node makes its devices unknown until their births', () => {
    const judge = Judge.born()
    judge.take('NBIRTH', { seq: 0, metrics: [bdSeq(5)] })
    expect(judge.take('DDATA', { seq: 1, metrics: [temperature(1)] }, 'd').messages).toEqual([])
    expect(judge.requested).toEqual([N])
  })
})

describe('data', () => {
  it.each<[string, WireMetric, object]>([
    ['by name', temperature(21), { temperature: 21 }],
    ['by alias, with the type of the birth', { alias: 7, double_value: 22 }, { temperature: 22 }],
    ['that is null', { alias: 7, is_null: true }, { temperature: null }],
  ])('%s', (_, metric, values) => {
    expect(Judge.born().take('NDATA', { seq: 2, timestamp: 9, metrics: [metric] }).messages).toEqual([
      { resource: N, timestamp: 9, ...values },
    ])
  })

  it.each<[keyof typeof DATA_TYPES, WireMetric, unknown]>([
    ['Int8', { int_value: 0xffff_fffe }, -2],
    ['Int16', { int_value: 0xffff_8000 }, -32_768],
    ['Int32', { int_value: 0xffff_ffff }, -1],
    ['Int64', { long_value: '18446744073709551615' }, -1],
    ['Int64', { long_value: '9007199254740993' }, '9007199254740993'],
    ['UInt8', { int_value: 200 }, 200],
    ['UInt32', { int_value: 0xffff_ffff }, 0xffff_ffff],
    ['UInt64', { long_value: '18446744073709551615' }, '18446744073709551615'],
    ['Float', { float_value: 0.5 }, 0.5],
    ['Double', { double_value: Number.NaN }, null],
    ['Boolean', { boolean_value: false }, false],
    ['String', { string_value: 'on' }, 'on'],
    ['DateTime', { long_value: 1_700_000_000_000 }, 1_700_000_000_000],
    ['UUID', { string_value: 'u-1' }, 'u-1'],
  ])('of type %s is read from %j', (type, value, expected) => {
    const judge = new Judge()
    const metric = { name: 'm', datatype: DATA_TYPES[type], ...value }
    expect(judge.take('NBIRTH', { seq: 0, timestamp: 1, metrics: [metric] }).messages).toEqual([
      { resource: N, timestamp: 1, m: expected },
    ])
  })

  it('without a value here, such as a data set, and controls of nodes are left out', () => {
    const metrics = [
      { name: 'table', datatype: 16, dataset_value: 'AAAA' },
      { name: 'Node Control/Rebirth', datatype: 11, boolean_value: false },
      bdSeq(1),
      temperature(1),
    ]
    expect(new Judge().take('NBIRTH', { seq: 0, timestamp: 1, metrics }).messages).toEqual([
      { resource: N, timestamp: 1, temperature: 1 },
    ])
  })

  it('that is not a payload is invalid', () => {
    const topic = sparkplugTopic('spBv1.0/g/NDATA/n')
    const nodes = new EdgeNodes({ elapsed: () => 0, later: () => () => undefined, requestRebirth: () => undefined })
    if (topic === undefined) throw new Error('the topic was not read')
    expect(() => nodes.take(topic, Buffer.from('{"not":"protobuf"}'))).toThrow(/payload of the NDATA is not one/)
  })
})

// Holds SPARKPLUG-1
describe('a birth is requested', () => {
  it.each<[string, number, string[]]>([
    ['not when the sequence continues', 2, []],
    ['after a gap', 3, [N]],
    ['after a repetition', 1, [N]],
  ])('%s', (_, seq, requested) => {
    const judge = Judge.born()
    // the data itself is used
    expect(judge.take('NDATA', { seq, timestamp: 2, metrics: [temperature(21)] }).messages).toHaveLength(1)
    judge.wait(1_999)
    expect(judge.requested).toEqual([])
    judge.wait(1)
    expect(judge.requested).toEqual(requested)
  })

  it('at once after data without a number', () => {
    const judge = Judge.born()
    judge.take('NDATA', { metrics: [temperature(21)] })
    expect(judge.requested).toEqual([N])
  })

  it('not when the sequence begins again after 255', () => {
    const judge = Judge.born()
    for (let seq = 2; seq < 600; seq++) judge.take('DDATA', { seq: seq % 256, metrics: [temperature(seq)] }, 'd')
    expect(judge.requested).toEqual([])
  })

  it.each<[string, string, WirePayload, string | undefined]>([
    ['a node without a birth', 'NDATA', { seq: 0, metrics: [temperature(1)] }, undefined],
    ['a device of a node without a birth', 'DBIRTH', { seq: 0, metrics: [temperature(1)] }, 'd'],
  ])('for %s, whose data is not used', (_, type, payload, device) => {
    const judge = new Judge()
    expect(judge.take(type, payload, device)).toEqual({ messages: [] })
    expect(judge.requested).toEqual([N])
  })

  it('for an alias that no birth has', () => {
    const judge = Judge.born()
    expect(judge.take('NDATA', { seq: 2, metrics: [{ alias: 99, double_value: 1 }] }).messages).toEqual([])
    expect(judge.requested).toEqual([N])
  })

  it('once until it comes, or ten seconds have passed', () => {
    const judge = new Judge()
    for (const seq of [5, 6, 7]) judge.take('NDATA', { seq, metrics: [] })
    expect(judge.requested).toEqual([N])
    judge.elapsed = 10_000
    judge.take('NDATA', { seq: 8, metrics: [] })
    expect(judge.requested).toEqual([N, N])
    judge.take('NBIRTH', { seq: 0, metrics: [bdSeq(1)] })
    judge.take('NDATA', { seq: 9, metrics: [] })
    judge.wait(2_000)
    expect(judge.requested).toEqual([N, N, N])
  })
})

/** In our words: what the host-application part of the public TCK asks of the order of messages. */
describe('messages out of order', () => {
  const data = (judge: Judge, ...numbers: readonly number[]): void => {
    for (const seq of numbers) judge.take('NDATA', { seq, timestamp: 2, metrics: [temperature(seq)] })
  }

  it.each<[string, readonly number[], readonly string[]]>([
    ['that fill the gap in time need no birth', [3, 2, 4], []],
    ['in reverse need no birth', [5, 4, 3, 2, 6], []],
    ['that fill a part of the gap need one', [5, 3, 2, 6], [N]],
    ['around the end of the numbers need no birth', [4, 3, 2, ...range(5, 254), 0, 255, 1], []],
    ['that come twice need one', [2, 2, 3], [N]],
    ['that come again after they filled a gap need one', [3, 2, 2, 4], [N]],
  ])('%s', (_, numbers, requested) => {
    const judge = Judge.born()
    data(judge, ...numbers)
    judge.wait(2_000)
    expect(judge.requested).toEqual(requested)
  })

  it('are used as they come, each with its own time', () => {
    const judge = Judge.born()
    const early = judge.take('NDATA', { seq: 3, timestamp: 20, metrics: [temperature(3)] })
    const late = judge.take('NDATA', { seq: 2, timestamp: 10, metrics: [temperature(2)] })
    expect([...early.messages, ...late.messages].map(({ timestamp }) => timestamp)).toEqual([20, 10])
  })

  it('have one timeout, counted from the first gap', () => {
    const judge = Judge.born()
    data(judge, 3)
    judge.wait(1_500)
    data(judge, 5)
    expect(judge.waits).toBe(1)
    judge.wait(500)
    expect(judge.requested).toEqual([N])
  })

  it('are forgotten with a birth, a death, and the end of the connection', () => {
    const [born, dead, closed] = [Judge.born(), Judge.born(), Judge.born()]
    for (const judge of [born, dead, closed]) data(judge, 9)
    born.take('NBIRTH', { seq: 0, metrics: [bdSeq(5), temperature(20)] })
    dead.take('NDEATH', { metrics: [bdSeq(4)] })
    closed.close()
    for (const judge of [born, dead, closed]) {
      expect(judge.waits).toBe(0)
      judge.wait(5_000)
      expect(judge.requested).toEqual([])
    }
    data(born, 1, 2)
    born.wait(5_000)
    expect(born.requested).toEqual([])
  })

  it('are those of a node and its devices together', () => {
    const judge = Judge.born()
    judge.take('DDATA', { seq: 2, metrics: [temperature(1)] }, 'd')
    data(judge, 3)
    judge.take('DDATA', { seq: 4, metrics: [temperature(1)] }, 'd')
    judge.wait(2_000)
    expect(judge.requested).toEqual([])
  })
})

it.each([
  'spBv1.0/STATE/host',
  'spBv1.0/g/NCMD/n',
  'spBv1.0/g/NDATA/n/d',
  'spBv1.0/g/DDATA/n',
  'spBv1.0/g/DDATA/n/d/e',
  'spBv1.0//NDATA/n',
])('the topic %s is not one of data', (topic) => {
  expect(sparkplugTopic(topic)).toBeUndefined()
})

it.each<[NewMetric, WireMetric]>([
  [{ name: 'm', type: 'Boolean', value: true }, { boolean_value: true }],
  [{ name: 'm', type: 'Int32', value: -2 }, { int_value: 0xffff_fffe }],
  [{ name: 'm', type: 'UInt64', value: 7 }, { long_value: 7 }],
  [{ name: 'm', type: 'Double', value: 1.5 }, { double_value: 1.5 }],
  [{ name: 'm', type: 'String', value: 'on' }, { string_value: 'on' }],
])('%j is written as %j', (metric, value) => {
  expect(read(writePayload(5, [metric]))).toEqual({
    timestamp: 5,
    metrics: [{ name: 'm', timestamp: 5, datatype: DATA_TYPES[metric.type], ...value }],
  })
})
