import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  type BatchOptions,
  type ImportBatch,
  importBatches,
  readingOf,
  type ReadingSettings,
  surveyFile,
} from '../../../../src/services/objects/etl/import-batches.ts'

async function* chunksOf(bytes: Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function batches(
  content: string | Uint8Array,
  options: BatchOptions = {},
  given: ReadingSettings = {},
): Promise<readonly ImportBatch[]> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  const all: ImportBatch[] = []
  const surveyed = await surveyFile(chunksOf(bytes), readingOf(given), () => false)
  const reading = surveyed?.reading ?? readingOf(given)
  for await (const batch of importBatches(chunksOf(bytes), reading, options)) all.push(batch)
  return all
}

/** Reads all batches: `resource metric time value` for each sample, and `line: message` for each rejected line. */
async function read(content: string | Uint8Array, options: BatchOptions = {}, given: ReadingSettings = {}) {
  const all = await batches(content, options, given)
  return {
    samples: all.flatMap(({ samples }) => samples.map((s) => [s.resource, s.metric, s.time, s.value].join(' '))),
    refused: all.flatMap(({ refused }) => refused.map(({ line, message }) => `${line}: ${message}`)),
    messages: all.reduce((sum, { messages }) => sum + messages, 0),
    line: all.at(-1)?.line,
  }
}

const WIDE = `resource,timestamp,temperature,mode
boiler-1,2026-01-01T00:00:00.000Z,93.5,on
boiler-2,1767225600000,,"off, for now"
`

// Holds IMPORT-1, IMPORT-3
describe('importBatches', () => {
  it('reads one column per metric, and skips empty cells', async () => {
    expect(await read(WIDE)).toEqual({
      samples: [
        'boiler-1 temperature 1767225600000 93.5',
        'boiler-1 mode 1767225600000 on',
        'boiler-2 mode 1767225600000 off, for now',
      ],
      refused: [],
      messages: 2,
      line: 3,
    })
  })

  it('reads the export of a spreadsheet', async () => {
    const sheet = 'Zeit;Temp. (C);Bemerkung\n01.07.2026 12:00;1.093,5;an\n28.10.2026 2:30:15;94;\n'
    const given = {
      delimiter: 'semicolon',
      decimal: ',',
      map: JSON.stringify(['Zeit=timestamp', 'Temp. (C)=temperature', 'Bemerkung=mode']),
      zone: 'Europe/Brussels',
      resource: 'boiler-1',
    }
    expect(await read(sheet.replace(' 2:', ' 02:'), {}, given)).toMatchObject({
      samples: [
        `boiler-1 temperature ${Date.UTC(2026, 6, 1, 10)} 1093.5`,
        `boiler-1 mode ${Date.UTC(2026, 6, 1, 10)} an`,
        `boiler-1 temperature ${Date.UTC(2026, 9, 28, 1, 30, 15)} 94`,
      ],
      refused: [],
    })
  })

  it('reports every invalid setting', () => {
    const given = { delimiter: 'x', decimal: '.', map: '"a=b"', zone: 'Mars/Base' }
    expect(() => readingOf(given)).toThrow(
      /map: it is not.*delimiter: "x" is not valid; write one of comma, semicolon, tab, pipe;.*zone: "Mars\/Base"/,
    )
    expect(() => readingOf({ map: '["a","b=c","b=d"]', decimal: ',' })).toThrow(
      /"a" is not valid.*b appears twice.*comma/,
    )
  })

  it('decompresses gzip, and fails for invalid gzip data', async () => {
    expect(await read(gzipSync(WIDE))).toEqual(await read(WIDE))
    const torn = gzipSync(WIDE)
    await expect(read(torn.subarray(0, torn.length - 9))).rejects.toThrow('unexpected end of file')
  })

  it('reports each rejected line, and accepts a line as a whole or not at all', async () => {
    const { samples, refused } = await read(
      [
        'resource,timestamp,a:number,b',
        'x,yesterday,1,2',
        ',0,1,2',
        ',0,1,2',
        'x,0,1e999,2',
        `x,0,1,${'é'.repeat(32_769)}`,
        'x,0,1',
        `${'x'.repeat(513)},0,1,2`,
        'x,0,1,a\0b',
        'x,0,-inf,2',
        'x,0,NaN,2',
      ].join('\n'),
    )
    expect(samples).toEqual(['x b 0 2'])
    expect(refused).toEqual([
      '2: "yesterday" is not a valid time',
      '3: the resource of the message is missing',
      '4: the resource of the message is missing',
      '5: a is beyond 1.8e308',
      '6: b has 65538 bytes',
      '7: 3 cells, but the header has 4',
      '8: the name of the resource has more than 512 bytes',
      '9: b has a NUL or half of a surrogate pair',
      '10: a is "-inf", which is not a number',
    ])
  })

  it('rejects values that series cannot store', async () => {
    const { refused } = await read(
      '{"resource":"a","timestamp":0,"at":{"lat":1}}\n{"resource":"a","timestamp":0,"l":[]}',
    )
    expect(refused).toEqual(['1: at is an object', '2: l is a list'])
  })

  it('resumes after any line as if it had never stopped', async () => {
    const rows = Array.from({ length: 40 }, (_, n) =>
      n % 7 === 3 ? `r,never,${n}` : n % 5 === 1 ? `"r\nr",${n},${n}` : `r,${n},${n}`,
    )
    const text = `resource,timestamp,v\n${rows.join('\n')}\n`
    const whole = await read(text)
    for (const cut of await batches(text, { size: 1 })) {
      const before = await batches(text, { size: 1 })
      const taken = before.slice(0, before.indexOf(before.find(({ line }) => line === cut.line) as ImportBatch) + 1)
      const first = {
        samples: taken.flatMap(({ samples }) => samples.map((s) => [s.resource, s.metric, s.time, s.value].join(' '))),
        refused: taken.flatMap(({ refused }) => refused.map(({ line, message }) => `${line}: ${message}`)),
      }
      const rest = await read(text, { after: cut.line })
      expect([...first.samples, ...rest.samples]).toEqual(whole.samples)
      expect([...first.refused, ...rest.refused]).toEqual(whole.refused)
    }
  })

  it('holds one batch at a time in memory', async () => {
    const text = `resource,timestamp,v\n${Array.from({ length: 500 }, (_, n) => `r,${n},1`).join('\n')}\n`
    const sizes = (await batches(text, { size: 10 })).map(({ samples }) => samples.length)
    expect(Math.max(...sizes)).toBeLessThan(20)
    expect(sizes.reduce((a, b) => a + b)).toBe(500)
  })
})
