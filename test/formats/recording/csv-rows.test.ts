import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MessageTaker, RecordedRow } from '../../../src/formats/recording/message-taker.ts'
import { readMessages } from '../../../src/formats/recording/read-messages.ts'
import { UTC } from '../../../src/formats/recording/times.ts'
import { surveyRecording } from '../../../src/formats/recording/survey.ts'
import type { ValueTypes } from '../../../src/formats/recording/value-types.ts'

type Heard = readonly [line: number, ...what: unknown[]]

/** Takes messages, and rows too unless `leaves` selects them. */
async function read(chunks: readonly Uint8Array[], leaves?: (row: RecordedRow) => boolean) {
  const heard: Heard[] = []
  let rows = 0
  const taker: MessageTaker = {
    message: ({ resource, timestamp, ...values }, line) => void heard.push([line, resource, timestamp, values]),
    problem: ({ line, message }) => void heard.push([line, message]),
  }
  if (leaves !== undefined) {
    taker.row = (row, line) => {
      if (leaves(row)) return false
      rows += 1
      const { resource, timestamp, count, metrics, values } = row
      const entries = metrics.slice(0, count).map((name, i) => [name, values[i]])
      heard.push([line, resource, timestamp, Object.fromEntries(entries)])
      return true
    }
  }
  const content = (async function* () {
    for (const chunk of chunks) {
      // as in files, whose buffers are reused
      const own = Buffer.from(chunk)
      yield own
      own.fill(0)
    }
  })()
  const types = await typesOf(chunks)
  for await (const _ of readMessages(content, { zone: UTC, resource: 'r', everyProblem: true, types }, taker));
  return { heard, rows }
}

async function typesOf(chunks: readonly Uint8Array[]): Promise<ValueTypes> {
  const content = (async function* () {
    yield* chunks
  })()
  const survey = surveyRecording(content, { zone: UTC, resource: 'r' })
  let step = await survey.next()
  while (step.done !== true) step = await survey.next()
  return step.value.types
}

function cut(text: string, size: number): readonly Uint8Array[] {
  const all = new TextEncoder().encode(text)
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size))
}

const TIMES = [
  '2026-01-31T08:00:00.000Z',
  '2026-01-31T08:00:00.250Z',
  '2026-01-31T23:59:59Z',
  '2026-02-31T08:00:00Z',
  '2026-01-31T24:00:00.000Z',
  '2026-01-31T08:61:00.000Z',
  '2026-01-31T08:00:00,250Z',
  '2026-01-31T08:00:00+01:00',
  '2026-01-31',
  '1767225600',
  '1767225600000',
  '-1',
  '99999999999999999',
  ' 0 ',
  'yesterday',
  '',
]
const NUMBERS = ['0', '-0', '12.25', '-.5', '5.', '007', '0x10', '1e3', '1e999', '123456789012345.67', '0.1', '+3', '-']
const TEXTS = [
  '',
  ' ',
  'on',
  ' off ',
  'TRUE',
  'nan',
  '漢字',
  '\u{1f600}',
  'a\rb',
  '"quoted, with ""comma"""',
  '"two\nlines"',
  '"torn',
]
const NAMES = ['boiler-1', ' boiler-1 ', 'resource', 'timestamp', '__proto__', 'é', '', 'x'.repeat(80)]
const HEADERS = [
  'resource,metric,timestamp,value',
  'value,timestamp,metric',
  'resource,timestamp,a,b',
  'a,timestamp,b,resource',
  'timestamp',
  'a,a,timestamp,resource',
  'a,,timestamp,resource',
  'resource,a',
]
const cell = fc.oneof(
  fc.constantFrom(...TIMES),
  fc.constantFrom(...NUMBERS),
  fc.constantFrom(...TEXTS),
  fc.constantFrom(...NAMES),
  fc.double().map(String),
)

/** Cells that mostly fit their header. */
const file = fc.constantFrom(...HEADERS).chain((header) => {
  const fitting = header.split(',').map((name) => {
    const ofColumn: Readonly<Record<string, readonly string[]>> = { timestamp: TIMES, resource: NAMES, metric: NAMES }
    return fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...(ofColumn[name] ?? NUMBERS)) },
      { weight: 1, arbitrary: cell },
    )
  })
  const row = fc.oneof(
    { weight: 6, arbitrary: fc.tuple(...fitting) },
    { weight: 1, arbitrary: fc.array(cell, { maxLength: 5 }) },
  )
  const end = fc.constantFrom('\n', '\n', '\r\n')
  return fc
    .array(fc.tuple(row, end), { maxLength: 30 })
    .map((rows) => `${header}\n${rows.map(([cells, ending]) => cells.join(',') + ending).join('')}`)
})

describe('rows of a CSV by their bytes', () => {
  it('are the messages and problems of the text reader, for any split of the bytes', async () => {
    // split lines are read as text, so most files are passed whole
    const sizes = fc.oneof(
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 200 }) },
      { weight: 3, arbitrary: fc.constant(1e6) },
    )
    await fc.assert(
      fc.asyncProperty(file, sizes, async (text, size) => {
        const [messages, asRows] = await Promise.all([read(cut(text, 1e6)), read(cut(text, size), () => false)])
        expect(asRows.heard).toEqual(messages.heard)
      }),
    )
  })

  it('are read as messages from the row where the consumer stops', async () => {
    const chunks = cut('resource,timestamp,a\nx,0,1\ny,0,2\nx,0,3\n', 1e6)
    const { heard, rows } = await read(chunks, ({ resource }) => resource === 'y')
    expect(rows).toBe(2)
    expect(heard).toEqual((await read(chunks)).heard)
  })

  it('are read as bytes again after lines that were read as text', async () => {
    const odd = '"x",0,1\n'.repeat(40)
    const text = `resource,timestamp,a\nx,0,1\n${odd}${'x,0,1\n'.repeat(2_000)}`
    expect((await read(cut(text, 1e6), () => false)).rows).toBeGreaterThan(1_900)
  })
})
