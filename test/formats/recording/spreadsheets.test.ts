/** Tests files that spreadsheets export: other delimiters, decimal commas, names of columns, dotted dates. */
import { expect, it } from 'vitest'
import { readMessages } from '../../../src/formats/recording/read-messages.ts'
import { readReadingTexts, type ReadingTexts } from '../../../src/formats/recording/reading-texts.ts'
import { readTime, UTC } from '../../../src/formats/recording/times.ts'
import { surveyRecording } from '../../../src/formats/recording/survey.ts'

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

/** Returns messages without resource, or the problems. */
async function read(text: string, texts: ReadingTexts): Promise<readonly unknown[]> {
  const wrong: unknown[] = []
  const reading = readReadingTexts(texts, (name, problem) => void wrong.push(`${name}: ${problem}`))
  const options = { zone: UTC, resource: 'r', ...reading }
  const survey = surveyRecording(bytes(text), options)
  let step = await survey.next()
  while (step.done !== true) step = await survey.next()
  wrong.push(...step.value.problems.map(({ message }) => message))
  if (wrong.length > 0) return wrong
  const found: unknown[] = []
  const taker = {
    message: ({ resource: _resource, timestamp, ...values }: Record<string, unknown>) =>
      void found.push([timestamp, values]),
    problem: ({ line, message }: { line: number; message: string }) => void found.push(`${line}: ${message}`),
  }
  for await (const _ of readMessages(bytes(text), { ...options, types: step.value.types }, taker));
  return found
}

const DECIMAL = { delimiter: ';', decimal: ',' }

it.each<[name: string, text: string, texts: ReadingTexts, found: readonly unknown[]]>([
  ['semicolons', 'timestamp;a;b\n0;1.5;x,y\n', { delimiter: 'semicolon' }, [[0, { a: 1.5, b: 'x,y' }]]],
  ['tabs', 'timestamp\ta\n0\t1\n', { delimiter: 'tab' }, [[0, { a: 1 }]]],
  ['pipes and quotes', 'timestamp|a\n0|"x|""y"""\n', { delimiter: '|' }, [[0, { a: 'x|"y"' }]]],
  [
    'decimal commas',
    'timestamp;a\n0;-1,25\n1;2\n2;1.234.567,5\n',
    DECIMAL,
    [
      [0, { a: -1.25 }],
      [1, { a: 2 }],
      [2, { a: 1_234_567.5 }],
    ],
  ],
  [
    'a decimal point as text beside decimal commas',
    'timestamp;a\n0;1.5\n1;2,5\n',
    DECIMAL,
    [
      [0, { a: '1.5' }],
      [1, { a: '2,5' }],
    ],
  ],
  [
    'a decimal point as a fault in a column of numbers',
    'timestamp;a\n0;1.5\n',
    { ...DECIMAL, types: 'a=number' },
    ['2: a is "1.5", which is not a number'],
  ],
  [
    'other names of columns',
    'Zeit,Temp. (C)\n01.03.2026 12:00,7\n',
    { map: ['Zeit=timestamp', 'Temp. (C)=t'] },
    [[Date.UTC(2026, 2, 1, 12), { t: 7 }]],
  ],
  ['two columns with one name', 'timestamp,a,b\n0,1,2\n', { map: ['a=b'] }, ['two columns are named "b"']],
  ['a column that is absent', 'timestamp,a\n0,1\n', { map: ['c=b'] }, ['the header lacks the column "c" of map']],
  ['NDJSON with settings of a CSV', '{"timestamp":0}', DECIMAL, ['the recording is NDJSON']],
  [
    'a comma for both',
    'timestamp,a\n',
    { decimal: ',' },
    ['decimal: the comma also separates the cells; add another delimiter, such as semicolon'],
  ],
])('reads %s', async (_name, text, texts, found) => {
  expect(await read(text, texts)).toEqual(found)
})

it.each([
  ['31.01.2026', Date.UTC(2026, 0, 31)],
  ['1.2.2026 08:05', Date.UTC(2026, 1, 1, 8, 5)],
  ['01.02.2026 08:05:06,5', Date.UTC(2026, 1, 1, 8, 5, 6, 500)],
  ['31.02.2026', 'does not exist'],
  ['1.2.26', 'is not a valid time'],
])('reads the time %s', (text, expected) => {
  const reading = readTime(text, UTC)
  if (typeof expected === 'number') expect(reading).toEqual({ times: [expected] })
  else expect(reading).toMatchObject({ message: expect.stringContaining(expected) as string })
})
