import { describe, expect, it } from 'vitest'
import type { RecordedMessage } from '../../../src/formats/recording/message-taker.ts'
import type { PlayOrder } from '../../../src/cli/recording/play-order.ts'
import { checkRecording, describeProblems, messagesOf } from '../../../src/cli/recording/recording.ts'
import type { Source } from '../../../src/cli/recording/source.ts'
import { zoneOf } from '../../../src/cli/zone.ts'

interface Settings {
  resource?: string
  zone?: string
  order?: PlayOrder
}

function sourceOf(content: string | Uint8Array): Source {
  return {
    name: 'file',
    async *open() {
      yield typeof content === 'string' ? new TextEncoder().encode(content) : content
    },
  }
}

async function read(content: string | Uint8Array, settings: Settings = {}) {
  const options = { zone: zoneOf(settings.zone ?? 'UTC'), resource: settings.resource }
  const source = sourceOf(content)
  const recording = await checkRecording(source, options, settings.order)
  const messages: RecordedMessage[] = []
  if (recording.problems.length === 0) {
    for await (const message of messagesOf(source, recording)) messages.push(message)
  }
  return { recording, messages, problems: describeProblems(recording) }
}

const T0 = Date.parse('2025-01-15T08:00:00Z')

describe('a CSV recording', () => {
  it('returns a message per row: numbers, booleans, NaN, text, and nothing for an empty cell', async () => {
    const { recording, messages } = await read(
      'timestamp,resource,t,on,bad,gap,note\n2025-01-15T08:00:00Z,r1,-150.5,TRUE,NaN,,"a ""b"", c"\n',
    )
    expect(recording).toMatchObject({ format: 'CSV', messages: 1, first: T0, last: T0, resources: new Set(['r1']) })
    expect(messages).toEqual([
      { resource: 'r1', timestamp: T0, t: -150.5, on: true, bad: Number.NaN, note: 'a "b", c' },
    ])
  })

  it('takes the resource of the options where a row names none', async () => {
    const { messages } = await read('timestamp,resource,t\n1736928000000,,1\n1736928000000,x,2', { resource: 'r2' })
    expect(messages.map(({ resource }) => resource)).toEqual(['r2', 'x'])
  })

  it('takes a byte order mark, CRLF and blank lines', async () => {
    const { messages } = await read('\ufefftimestamp,t\r\n\r\n2025-01-15 08:00:00,1\r\n', { resource: 'r' })
    expect(messages).toEqual([{ resource: 'r', timestamp: T0, t: 1 }])
  })

  it('keeps text that only looks like a number', async () => {
    const { messages } = await read('timestamp,a,b,c\n0,1e999,12 kg,0x10', { resource: 'r' })
    expect(messages).toMatchObject([{ a: '1e999', b: '12 kg', c: '0x10' }])
  })

  it('walks through the repeated hour of autumn in the order of its lines', async () => {
    const times = [
      '2025-10-26 01:30:00',
      '2025-10-26 02:30:00',
      '2025-10-26 02:00:00',
      '2025-10-26 02:30:00',
      '2025-10-26 03:00:00',
    ]
    const { messages, problems } = await read(`timestamp,t\n${times.map((time) => `${time},1`).join('\n')}`, {
      resource: 'r',
      zone: 'Europe/Brussels',
    })
    expect(problems).toEqual([])
    expect(messages.map(({ timestamp }) => new Date(timestamp).toISOString().slice(11, 16))).toEqual([
      '23:30',
      '00:30',
      '01:00',
      '01:30',
      '02:00',
    ])
  })

  it.each([
    [
      'too few cells',
      'timestamp,a\n2025-01-15',
      'file:2: 1 cell, but the header has 2; timestamp,a; keep the delimiter of an empty cell',
    ],
    [
      'too many cells',
      'timestamp,a\n0,1,2',
      'file:2: 3 cells, but the header has 2; timestamp,a; quote cells that contain a delimiter',
    ],
    [
      'an unclosed quote',
      'timestamp,a\n0,"1',
      'file:2: the quote opened here is never closed; close the cell with a second quote',
    ],
    ['a bad time', 'timestamp,a\nsoon,1', 'file:2: "soon" is not a valid time; use 2025-01-31T08:00:00Z'],
    ['a missing time', 'timestamp,a\n,1', 'file:2: the time is empty; use'],
    [
      'no time column',
      'Time,a\n0,1',
      'file:1: the header lacks the column "timestamp" among "Time", "a"; rename "Time", or add --map "Time=timestamp"',
    ],
    ['semicolons', 'timestamp;a\n0;1', 'file:1: the cells are separated by ";"; add --delimiter ";"'],
    ['a column without a name', 'timestamp,\n0,1', 'file:1: column 2 of the header lacks a name; name each column'],
    [
      'two columns of one name',
      'timestamp,a,a\n0,1,1',
      'file:1: two columns are named "a"; use a different name for each column',
    ],
    [
      'a column named __proto__',
      'timestamp,__proto__\n0,1',
      'file:1: "__proto__" is not a valid column name; rename it',
    ],
    ['a header alone', 'timestamp,a\n', 'file:1: the file has no messages; write at least one line below the header'],
  ])('names %s', async (_name, text, expected) => {
    const { problems } = await read(text, { resource: 'r' })
    expect(problems).toHaveLength(1)
    expect(problems[0]?.slice(0, expected.length)).toBe(expected)
  })

  it('names the first of all rows that name no resource', async () => {
    const { problems } = await read('timestamp,a\n0,1\n1,1')
    expect(problems).toEqual([
      'file:2: the resource of the message is missing; add --resource R, or a column named resource',
    ])
  })
})

describe('an NDJSON recording', () => {
  it('returns a message per line with its time as epoch ms', async () => {
    const { recording, messages } = await read(
      '\n  {"resource":"r","timestamp":"2025-01-15T09:00:00+01:00","t":[1,{"a":null}]}\n\n{"timestamp":1736928001000,"t":2}\n',
      { resource: 'own' },
    )
    expect(recording.format).toBe('NDJSON')
    expect(messages).toEqual([
      { resource: 'r', timestamp: T0, t: [1, { a: null }] },
      { resource: 'own', timestamp: T0 + 1000, t: 2 },
    ])
  })

  it.each([
    [
      'a torn line',
      '{"timestamp":0,"t":\n{"timestamp":0}',
      'file:1: column 20: the text ends, but the { of line 1, column 1 is still open; close it with }',
    ],
    ['no JSON', '{"timestamp":0}\nhello', 'file:2: column 1: hello is not a JSON value; use "hello"'],
    [
      'a trailing comma',
      '{"timestamp":0,}',
      'file:1: column 15: unexpected comma before the closing }; remove the trailing comma',
    ],
    [
      'a list in a line',
      '{"timestamp":0}\n[{"timestamp":0}]',
      'file:2: a message is expected, not a list; use one JSON object per line',
    ],
    ['a number in a line', '{"timestamp":0}\n7', 'file:2: a message is expected, not 7; use one JSON object per line'],
    ['no time', '{"t":1}', 'file:1: "timestamp" is missing; add ISO'],
    ['a bad time', '{"timestamp":"31/1/2025"}', 'file:1: "31/1/2025" is not a valid time; use'],
    [
      'a resource that is no text',
      '{"timestamp":0,"resource":7}',
      'file:1: 7 is not a valid resource; use a text that is not empty',
    ],
    [
      'a key that reaches a prototype',
      '{"timestamp":0,"a":{"__proto__":1}}',
      'file:1: the message has the key "__proto__", which is not allowed; remove it',
    ],
    ['one big list', '[\n{"timestamp":0}]', 'file:1: the recording is one JSON list; use one message per line'],
  ])('names %s', async (_name, text, expected) => {
    const { problems } = await read(text, { resource: 'r' })
    expect(problems).toHaveLength(1)
    expect(problems[0]?.slice(0, expected.length)).toBe(expected)
  })

  it('names the first of all lines that name no resource', async () => {
    const { problems } = await read('{"timestamp":0}\n{"timestamp":1}')
    expect(problems).toEqual([
      'file:1: the resource of the message is missing; add --resource R, or "resource": "..." to the message',
    ])
  })

  it('refuses a message of any depth without falling over', async () => {
    const { problems } = await read(`{"timestamp":0,"a":${'['.repeat(5000)}${']'.repeat(5000)}}`, { resource: 'r' })
    expect(problems).toEqual(['file:1: the message is nested deeper than 64 levels; remove it'])
  })
})

describe('any recording', () => {
  it('may repeat a time', async () => {
    expect((await read('timestamp,t\n5,1\n5,2', { resource: 'r' })).problems).toEqual([])
  })

  const BACK = 'timestamp,t,receivedAt\n0,1,70000\n60000,2,60000\n30000,3,90000\n60000,4,80000'

  it.each<[PlayOrder, readonly number[], object | undefined]>([
    ['time', [1, 3, 2, 4], { line: 4, time: 30_000, previous: 60_000, count: 1 }],
    ['file', [1, 2, 3, 4], { line: 4, time: 30_000, previous: 60_000, count: 1 }],
    ['lived', [2, 1, 4, 3], { line: 3, time: 60_000, previous: 70_000, count: 2 }],
  ])('in the order %s', async (order, values, back) => {
    const { problems, recording, messages } = await read(BACK, { resource: 'r', order })
    expect(problems).toEqual([])
    expect(messages.map(({ t }) => t)).toEqual(values)
    expect(recording.back).toEqual(back)
  })

  it('names each line that does not say when its message came, where that is the order', async () => {
    const content = '{"timestamp":0,"receivedAt":5}\n{"timestamp":1}\n{"timestamp":2,"receivedAt":"soon"}'
    const right = 'write the time of arrival as epoch ms or ISO 8601, or use --order time'
    expect((await read(content, { resource: 'r', order: 'lived' })).problems).toEqual([
      `file:2: the message has no receivedAt; ${right}`,
      `file:3: receivedAt "soon" is not a time; ${right}`,
    ])
  })

  it('holds NaN and the infinities in NDJSON, which JSON has no word for', async () => {
    const { messages } = await read('{"timestamp":0,"t":{"$number":"NaN"},"u":[{"$number":"-Infinity"}]}', {
      resource: 'r',
    })
    expect(messages).toEqual([{ resource: 'r', timestamp: 0, t: Number.NaN, u: [-Infinity] }])
  })

  it('is brought into order, and lines of one time stay in their order', async () => {
    const { messages } = await read('timestamp,t\n3,1\n1,2\n3,3\n1,4', { resource: 'r' })
    expect(messages.map(({ t }) => t)).toEqual([2, 4, 1, 3])
  })

  it('shows the first twenty problems and counts the rest', async () => {
    const { problems } = await read(`timestamp,t\n${'soon,1\n'.repeat(33)}`, { resource: 'r' })
    expect(problems).toHaveLength(21)
    expect(problems[19]).toContain('file:21:')
    expect(problems[20]).toBe('file: and 13 more problems')
  })

  it.each([
    ['nothing in it', '', 'file:1: the file is empty'],
    ['UTF-16', new Uint8Array([0xff, 0xfe, 0x74, 0]), 'file:1: the file is UTF-16; save it as UTF-8'],
    ['compression', new Uint8Array([0x1f, 0x8b, 8]), 'file:1: the file is compressed; decompress it'],
  ])('with %s is refused', async (_name, content, expected) => {
    const { problems } = await read(content)
    expect(problems).toHaveLength(1)
    expect(problems[0]?.slice(0, expected.length)).toBe(expected)
  })

  it('that changes between the check and the run is refused with a code', async () => {
    const { recording } = await read('timestamp,t\n0,1', { resource: 'r' })
    const messages = messagesOf(sourceOf('timestamp,t\nsoon,1'), recording)
    const error: unknown = await messages.next().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'BAD_RECORDING' })
    expect(String(error)).toContain('file:2')
  })
})
