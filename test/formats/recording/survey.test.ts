/** Tests the survey of a whole file: types of columns, units of times, bytes that are not text. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ReadingOptions, RecordedMessage } from '../../../src/formats/recording/message-taker.ts'
import { readMessages } from '../../../src/formats/recording/read-messages.ts'
import { UTC } from '../../../src/formats/recording/times.ts'
import { surveyRecording, type Survey } from '../../../src/formats/recording/survey.ts'
import { readValueTypes, type ValueTypes } from '../../../src/formats/recording/value-types.ts'

type Given = Pick<ReadingOptions, 'unit' | 'encoding' | 'types'>

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? new TextEncoder().encode(text) : text
}

async function* cut(text: string | Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  const bytes = bytesOf(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size)
}

async function survey(text: string | Uint8Array, given: Given = {}, size = 1e6): Promise<Survey> {
  const looking = surveyRecording(cut(text, size), { zone: UTC, resource: 'r', ...given })
  let step = await looking.next()
  while (step.done !== true) step = await looking.next()
  return step.value
}

const problemsOf = async (text: string | Uint8Array, given?: Given): Promise<readonly string[]> =>
  (await survey(text, given)).problems.map(
    ({ line, message, suggestion }) => `${line}: ${message}; ${suggestion ?? ''}`,
  )

/** Values of all messages, and the problems of lines. */
async function read(text: string | Uint8Array, given: Given = {}) {
  const { types, problems } = await survey(text, given)
  const messages: RecordedMessage[] = []
  const wrong = problems.map(({ message }) => message)
  const options = { zone: UTC, resource: 'r', ...given, types }
  const taker = {
    message: (message: RecordedMessage) => void messages.push(message),
    problem: ({ line, message, suggestion }: { line: number; message: string; suggestion?: string }) =>
      void wrong.push(`${line}: ${message}; ${suggestion ?? ''}`),
  }
  if (wrong.length === 0) for await (const _ of readMessages(cut(text, 1e6), options, taker));
  return { values: messages.map(valuesOf), wrong }
}

function valuesOf(message: RecordedMessage): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(message).filter(([name]) => name !== 'resource' && name !== 'timestamp'))
}

function typed(text: string): ValueTypes {
  const types = readValueTypes(text)
  if ('problem' in types) throw new Error(types.problem)
  return types
}

const column = (cells: readonly string[]): string => `timestamp,a\n${cells.map((cell) => `0,${cell}\n`).join('')}`

describe('a column of a CSV', () => {
  it.each([
    ['plain decimals', ['21.50', '-3', '0', '0.5', '123456789012345'], [21.5, -3, 0, 0.5, 123456789012345]],
    [
      'what a program writes of a number',
      ['74.93588199999998', '0.30000000000000004'],
      [74.93588199999998, 0.30000000000000004],
    ],
    ['plain decimals, NaN and nothing', ['1', 'NaN', '', ' '], [1, Number.NaN, undefined, undefined]],
    ['true and false', ['true', 'FALSE'], [true, false]],
    ['numbers that begin with 0', ['0123', '5'], ['0123', '5']],
    ['the same in quotes', ['"0123"', '5'], ['0123', '5']],
    ['exponents', ['241408E4', '5'], ['241408E4', '5']],
    ['other notations', ['0x10', '+5', '.5', '5.'], ['0x10', '+5', '.5', '5.']],
    ['blanks around', [' 5', '6'], [' 5', '6']],
    ['more digits than a number keeps', ['12345678901234567890', '5'], ['12345678901234567890', '5']],
    ['decimals that a number does not keep', ['0.12345678901234567890', '5'], ['0.12345678901234567890', '5']],
    ['numbers and true', ['1', 'true'], ['1', 'true']],
    ['text first', ['on', 'true', '1'], ['on', 'true', '1']],
    ['text last', ['true', 'on'], ['true', 'on']],
  ])('of %s is detected as one type', async (_name, cells, values) => {
    expect(await read(column(cells))).toEqual({
      values: values.map((value) => (value === undefined ? {} : { a: value })),
      wrong: [],
    })
  })

  it('that is text despite numbers is reported with its first non-numeric cell', async () => {
    expect((await survey('timestamp,a,b,c\n0,1,on,7\n0,0123,1,8\n0,x,off,9\n')).mixed).toEqual([
      { metric: 'a', cell: '0123', line: 3 },
      { metric: 'b', cell: 'on', line: 2 },
    ])
  })

  it('has the same type for any split of the bytes, in rows with quotes, and in the long form', async () => {
    const cell = fc.constantFrom(
      '1',
      '0',
      '-2.5',
      '007',
      'on',
      'true',
      'false',
      'NaN',
      '',
      ' ',
      '1e3',
      '.5',
      '123456789012345678',
    )
    const rows = fc.array(fc.tuple(cell, cell, fc.boolean()), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 40 }), async (all, size) => {
        const quoted = (text: string, isQuoted: boolean): string => (isQuoted ? `"${text}"` : text)
        const wide = `timestamp,a,b\n${all.map(([a, b, is]) => `0,${quoted(a, is)},${b}\n`).join('')}`
        const long = `timestamp,metric,value\n${all.map(([a, b, is]) => `0,a,${quoted(a, is)}\n0,b,${b}\n`).join('')}`
        const [whole, cutUp, inRows] = [await survey(wide), await survey(wide, {}, size), await survey(long)]
        expect(cutUp).toEqual(whole)
        if (all.length > 0) expect(inRows.types).toEqual(whole.types)
      }),
    )
  })

  it('has the type that its header or its caller declares', async () => {
    const text = 'timestamp,a:text,b:json,c:number,d\n0,5,"""5""",1e3,5\n0,6,5,-.5,6\n'
    expect(await read(text)).toEqual({
      values: [
        { a: '5', b: '5', c: 1000, d: 5 },
        { a: '6', b: 5, c: -0.5, d: 6 },
      ],
      wrong: [],
    })
    expect((await read(text, { types: typed('a=number,d=text') })).values[0]).toEqual({ a: 5, b: '5', c: 1000, d: '5' })
  })

  it.each([
    ['a=number', 'n/a', 'a is "n/a", which is not a number; use --types a=text to read it unchanged'],
    [
      'a=number',
      '12345678901234567890',
      'a is 12345678901234567890, which has more digits than a number can hold; use --types a=text to read it unchanged',
    ],
    ['a=number', '1e999', 'a is beyond 1.8e308; use an empty cell'],
    ['a=boolean', '1', 'a is "1", not true or false; use --types a=text to read it unchanged'],
    ['a=json', 'on', 'a is "on", which is not JSON; use quotes around a text, such as ""on""'],
    [
      'a=json',
      '[9007199254740993]',
      'a has 9007199254740993, which has more digits than a number can hold; use a text',
    ],
  ])('declared as %s rejects a line with %s', async (types, cell, problem) => {
    const rows = `timestamp,a\n0,\n0,${cell}\n0,\n`
    expect(await read(rows, { types: typed(types) })).toEqual({ values: [{}, {}], wrong: [`3: ${problem}`] })
  })

  it('exists if its type is declared', async () => {
    expect(await problemsOf('timestamp,a,b\n0,1,2\n', { types: typed('serial=text') })).toEqual([
      '1: --types names "serial", which is not in the file; it has a, b',
    ])
  })
})

/** An integer that a number cannot represent exactly: it is rejected. */
function isInexact(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value)
}

describe('a message of NDJSON', () => {
  it('is read as written, for any values in any order', async () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((one) => !isInexact(one))
    const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('0123', '1e3', 'NaN', ' ', '', 'true', '{'))
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ depthSize: 'small' }, number, text, fc.boolean(), fc.constant(null), tie('list'), tie('record')),
      list: fc.array(tie('any'), { maxLength: 3 }),
      record: fc.dictionary(fc.constantFrom('a', 'B c', 'é'), tie('any'), { maxKeys: 3 }),
    })).any
    const name = fc.constantFrom('level', 'a,b', 'q"', '1-0:1.8.0', 'flow:number', 'value')
    await fc.assert(
      fc.asyncProperty(fc.array(fc.dictionary(name, value), { minLength: 1, maxLength: 6 }), async (all) => {
        const lines = all.map((values, i) => JSON.stringify({ resource: 'r', timestamp: i, ...values }))
        const written = lines.map((line) => valuesOf(JSON.parse(line) as RecordedMessage))
        expect(await read(lines.join('\n'))).toEqual({ values: written, wrong: [] })
      }),
    )
  })

  const SERIAL = '{"timestamp":0,"serial":9007199254740993,"a":{"b":[1,9007199254740993]}}'

  it('with more digits than a number keeps is rejected with its position', async () => {
    expect((await read(SERIAL)).wrong).toEqual([
      '1: serial is 9007199254740993, which has more digits than a number can hold; use a text, or read it as one: --types serial=text',
    ])
    expect((await read(SERIAL, { types: typed('serial=text') })).wrong).toEqual([
      '1: a/b/1 is 9007199254740993, which has more digits than a number can hold; use a text',
    ])
  })

  it('has the declared types', async () => {
    const text = '{"timestamp":0,"serial":9007199254740993,"flow":"12.50","on":"TRUE","none":null}\n'
    const types = typed('serial=text,flow=number,on=boolean,none=number')
    expect(await read(text, { types })).toEqual({
      values: [{ serial: '9007199254740993', flow: 12.5, on: true, none: null }],
      wrong: [],
    })
    expect((await read('{"timestamp":0,"a":{}}', { types: typed('a=number') })).wrong).toEqual([
      '1: a is {}, which is not of type number; omit it from --types',
    ])
  })
})

describe('epoch numbers of a file', () => {
  it.each([
    [
      's',
      '1763978400',
      'the times are epoch seconds: 1763978400 is 2025-11-24T10:00:00.000Z, and in milliseconds it would be 1970-01-21T09:59:38.400Z',
    ],
    [
      'us',
      '1763978400000000',
      'the times are epoch microseconds: 1763978400000000 is 2025-11-24T10:00:00.000Z, and in milliseconds it would be +057868-',
    ],
  ] as const)(
    'in %s are rejected with the likely unit, and accepted when the unit is declared',
    async (unit, time, problem) => {
      for (const text of [
        `timestamp,a\n${time},1\n`,
        `{"timestamp":${time},"a":1}\n`,
        `{"timestamp":"${time}","a":1}\n`,
      ]) {
        const [told = ''] = await problemsOf(text)
        expect(told.slice(3, 3 + problem.length)).toBe(problem)
        expect(told).toContain(`--unit ${unit}`)
        expect(await read(text, { unit })).toEqual({ values: [{ a: 1 }], wrong: [] })
        expect(await read(text, { unit: 'ms' })).toEqual({ values: [{ a: 1 }], wrong: [] })
      }
    },
  )

  it.each(['0', '1', '1000', '1763978400000', '-1', '2025-01-01'])('such as %s are accepted', async (time) => {
    expect(await problemsOf(`timestamp,a\n${time},1\n`)).toEqual([])
  })

  it('are accepted when only some of them fit', async () => {
    expect(await problemsOf('timestamp,a\n1763978400,1\n1763978400000,1\n')).toEqual([])
  })
})

describe('the bytes of a file', () => {
  const latin = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0))

  it('that are not UTF-8 are rejected with the position, and read as latin1 when that is declared', async () => {
    const text = 'timestamp,ort\n0,Lager\n0,K\u00fcche\n'
    expect(await problemsOf(latin(text))).toEqual([
      '3: byte 4 of the line, 0xFC, is not UTF-8; read it with --encoding latin1, or save the file as UTF-8',
    ])
    const { values } = await read(latin(text), { encoding: 'latin1' })
    expect(values).toEqual([{ ort: 'Lager' }, { ort: 'K\u00fcche' }])
  })

  it('are UTF-8 exactly if the platform accepts them', async () => {
    const decoder = new TextDecoder('utf-8', { fatal: true })
    const isText = (bytes: Uint8Array): boolean => {
      try {
        decoder.decode(bytes)
        return true
      } catch {
        return false
      }
    }
    const byte = fc.constantFrom(
      0x41,
      0x7f,
      0x80,
      0x8f,
      0x90,
      0x9f,
      0xa0,
      0xbf,
      0xc0,
      0xc2,
      0xdf,
      0xe0,
      0xed,
      0xef,
      0xf0,
      0xf4,
      0xf5,
    )
    const letters = fc.string({ unit: 'binary', maxLength: 8 }).map((text) => [...new TextEncoder().encode(text)])
    const parts = fc.array(fc.oneof(fc.array(byte, { maxLength: 4 }), letters), { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(parts, fc.integer({ min: 1, max: 9 }), async (some, size) => {
        // a byte after the last character ends it
        const bytes = Uint8Array.from([...some.flat(), 0x0a])
        const found = await survey(Uint8Array.from([...latin('timestamp\n'), ...bytes]), {}, size)
        expect(found.problems.some(({ message }) => message.includes('UTF-8'))).toBe(!isText(bytes))
      }),
    )
  })
})

describe('declared types', () => {
  it.each([
    ['serial', '"serial" is not a valid metric type'],
    ['serial=word', '"serial=word" is not a valid metric type'],
    ['a=text,a=number', 'a appears twice'],
    ['__proto__=text', '"__proto__" is not a valid metric name'],
    ['', '"" is not a valid metric type'],
  ])('%s is rejected', (text, problem) => {
    expect(readValueTypes(text)).toEqual({ problem })
  })

  it('accept names that contain an equals sign', () => {
    expect(typed('a=b=text, c=json')).toEqual(
      new Map([
        ['a=b', 'text'],
        ['c', 'json'],
      ]),
    )
  })
})
