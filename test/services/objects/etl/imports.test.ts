/** Tests that files put into a bucket become series, and that series become files. */
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import { runs } from '../../../support/arbitraries/runs.ts'
import type { SubscriptionsHost } from '../subscriptions/world.ts'
import { SubscriptionsWorld, TENANT } from '../subscriptions/world.ts'

const BUCKET = 'etl-import'

let host: SubscriptionsHost
beforeEach(async () => {
  host = await new SubscriptionsWorld().host()
})
afterEach(() => host.stop())

const rows = (count: number, from = 0): string =>
  Array.from({ length: count }, (_, n) => `boiler-${n % 3},${1_767_225_600_000 + (from + n) * 1_000},${n}\n`).join('')
const CSV = `resource,timestamp,level\n${rows(10)}boiler-1,never,5\n`

const valuesOf = async ({ storage }: SubscriptionsHost, resource: string): Promise<readonly unknown[]> => {
  const { series } = storage.tenant(TENANT)
  return (await series.range({ resources: [resource], metric: 'level' })).map(({ value }) => value)
}
const api = () => host.transfers.as({ tenant: TENANT, user: 'users/1' })

async function reported(host: SubscriptionsHost, path: string): Promise<Record<string, unknown>> {
  return JSON.parse(await host.textOf(BUCKET, `${path}.report.json`)) as Record<string, unknown>
}

// Holds IMPORT-1, IMPORT-2
describe('a file that is uploaded below upload/', () => {
  it('is imported into series, with a report beside it about each rejected line', async () => {
    await host.put('upload/boilers.csv', CSV, BUCKET)
    await host.settled()
    expect(await valuesOf(host, 'boiler-1')).toEqual([1, 4, 7])
    expect(await reported(host, 'upload/boilers.csv')).toMatchObject({
      object: 'upload/boilers.csv',
      state: 'completed',
      messages: 10,
      points: 10,
      refused: 1,
      lines: [{ line: 12, message: '"never" is not a valid time' }],
    })
    const [one] = await api().imports()
    expect(one).toMatchObject({ state: 'completed', object: 'upload/boilers.csv', points: 10, refused: 1 })
    expect(one?.read).toBe(one?.size)
    expect(await api().import(one?.id ?? '')).toMatchObject({ lines: [{ line: 12 }] })
  })

  it('is imported again when it is uploaded again, compressed or not, and not for its report or in other folders', async () => {
    await host.put('upload/a.csv', CSV, BUCKET)
    await host.put('upload/a.csv', gzipSync(CSV), BUCKET)
    await host.put('other/a.csv', CSV, BUCKET)
    await host.put('upload/a.csv', CSV, 'assets')
    await host.settled()
    expect((await api().imports()).map(({ state }) => state).toSorted()).toEqual(['completed', 'failed'])
    expect(await api().imports({ state: 'completed', object: 'upload/a.csv' })).toHaveLength(1)
  })

  it('that is empty, or cannot be decompressed, has a report about it', async () => {
    const torn = gzipSync(CSV)
    await host.put('upload/empty.csv', '', BUCKET)
    await host.put('upload/torn.gz', torn.subarray(0, torn.length - 10), BUCKET)
    await host.put('upload/text.txt', 'hello\nworld\n', BUCKET)
    await host.settled()
    const reportOf = (name: string) => reported(host, `upload/${name}`)
    expect(await reportOf('empty.csv')).toMatchObject({ state: 'completed', error: 'it has no messages' })
    expect(await reportOf('torn.gz')).toMatchObject({ state: 'failed', error: 'unexpected end of file' })
    expect(await reportOf('text.txt')).toMatchObject({
      state: 'failed',
      points: 0,
      lines: [{ line: 1, message: expect.stringContaining('the header lacks the column "timestamp"') as unknown }],
    })
  })

  it('whose path is too long for a report is imported without one, and logs it', async () => {
    await host.put(`upload/${'x'.repeat(1_017)}`, CSV, BUCKET)
    await host.settled()
    expect(await api().imports()).toMatchObject([
      { state: 'completed', points: 10, error: expect.stringContaining('it has no report') as unknown },
    ])
  })

  it('reports the first thousand rejected lines, and counts all', async () => {
    await host.put('upload/bad.csv', `resource,timestamp,level\n${'a,never,1\n'.repeat(1_500)}`, BUCKET)
    await host.settled()
    const report = await reported(host, 'upload/bad.csv')
    expect(report).toMatchObject({ refused: 1_500, named: 1_000 })
    expect(report['lines']).toHaveLength(1_000)
  })

  it('resumes its import after a crash at any point, and counts each line once', async () => {
    const text = `resource,timestamp,level\n${rows(50_000)}x,never,1\n`
    for (const commits of [3, 6, 9, 12, 15, 18]) {
      const world = new SubscriptionsWorld()
      const dying = await world.host()
      dying.dieAfter(commits)
      await dying.put('upload/a.csv', text, BUCKET).catch(() => undefined)
      await dying.settled().catch(() => undefined)
      await dying.kill()
      const host = await world.host()
      const isThere = await host.objects.inside.stat(BUCKET, 'upload/a.csv').then(
        () => true,
        (error: unknown) => error instanceof AppError && error.code !== 'NOT_FOUND',
      )
      if (!isThere) await host.put('upload/a.csv', text, BUCKET)
      await host.settled()
      const report = await reported(host, 'upload/a.csv')
      expect(report, `after ${commits} commits`).toMatchObject({ messages: 50_000, points: 50_000, refused: 1 })
      expect(await valuesOf(host, 'boiler-0')).toHaveLength(10_000)
      await host.stop()
    }
  })
})

describe('the format of a file', () => {
  const putRead = async (
    text: string | Uint8Array,
    metadata: Readonly<Record<string, string>>,
  ): Promise<Record<string, unknown>> => {
    const content = typeof text === 'string' ? new TextEncoder().encode(text) : text
    await host.objects.inside.put(BUCKET, 'upload/a.csv', content, { metadata })
    await host.settled()
    return reported(host, 'upload/a.csv')
  }

  it('is in its report: the type of each column, and text columns that contain numbers', async () => {
    const report = await putRead('resource,timestamp,level,serial,on\nx,0,1,0123,true\nx,1,2,5,false\n', {})
    expect(report).toMatchObject({
      state: 'completed',
      points: 6,
      types: { level: 'number', serial: 'text', on: 'boolean' },
      notes: [
        {
          line: 2,
          message: 'serial is read as text, because "0123" is not a plain decimal; --types serial=number reads numbers',
        },
      ],
    })
    const [one] = await api().imports()
    expect(await api().import(one?.id ?? '')).toMatchObject({ types: { serial: 'text' }, notes: [{ line: 2 }] })
  })

  it('is configured by its metadata', async () => {
    const text = Uint8Array.from('resource,timestamp,level\nx,1763978400,\u00fc\n', (letter) => letter.charCodeAt(0))
    const metadata = { unit: 's', encoding: 'latin1', types: 'level%3Dtext' }
    expect(await putRead(text, metadata)).toMatchObject({
      state: 'completed',
      points: 1,
      types: { level: 'text' },
    })
    const { series } = host.storage.tenant(TENANT)
    expect(await series.range({ resources: ['x'], metric: 'level' })).toMatchObject([
      { time: 1_763_978_400_000, value: '\u00fc' },
    ])
    expect(await api().imports()).toMatchObject([{ reading: { ...metadata, types: 'level=text' } }])
  })

  it.each([
    ['resource,timestamp,level\nx,1763978400,1\n', {}, 'the times are epoch seconds'],
    [Uint8Array.from('resource,timestamp,level\nx,0,\u00fc\n', (letter) => letter.charCodeAt(0)), {}, 'is not UTF-8'],
    ['resource,timestamp,level,level\nx,0,1,2\n', {}, 'two columns are named "level"'],
    [
      'resource,timestamp,level\nx,0,1\n',
      { unit: 'days', encoding: 'ascii', types: 'level' },
      'the metadata unit: "days" is not valid; write one of s, ms, us; the metadata encoding: "ascii" is not valid; write one of utf-8, latin1; the metadata types: "level" is not a valid metric type',
    ],
  ])('makes an import fail that cannot be read in it, without storing samples: %j', async (text, metadata, error) => {
    expect(await putRead(text, metadata)).toMatchObject({
      state: 'failed',
      points: 0,
      error: expect.stringContaining(error) as unknown,
    })
    expect(await valuesOf(host, 'x')).toEqual([])
  })
})

describe('an export', () => {
  it('can be imported again unchanged, for any values', async () => {
    const value = fc.oneof(
      fc.double({ noDefaultInfinity: true, noNaN: true }),
      fc.integer(),
      fc.boolean(),
      fc.constantFrom(
        '',
        ' ',
        '0123',
        '5',
        '-0',
        '1e3',
        '0x10',
        'NaN',
        'inf',
        'true',
        'FALSE',
        'null',
        '{}',
        '12345678901234567890',
      ),
      fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', '5', '\u00e9', '{', "'"), maxLength: 6 }),
    )
    const kinds = fc.constantFrom<readonly string[]>(
      ['number'],
      ['boolean'],
      ['string'],
      ['number', 'string', 'boolean'],
    )
    const metric = fc.constantFrom('level', 'metric', 'value', 'a,b', 'flow:number', 'q"')
    const sample = fc.tuple(metric, fc.integer({ min: 0, max: 20 }), value)
    const { series } = host.storage.tenant(TENANT)
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(sample, { minLength: 1, maxLength: 25 }), kinds, async (all, wanted) => {
        const resource = `r${run++}`
        const samples = all
          .filter((one) => wanted.includes(typeof one[2]))
          .map(([name, time, given]) => ({ resource, metric: name, time, value: given }))
        if (samples.length === 0) return
        await series.append({ samples })
        const read = async () =>
          Promise.all(
            (await series.latest(resource)).map(({ metric: name }) =>
              series.range({ resources: [resource], metric: name }),
            ),
          )
        const before = await read()
        await api().startExport({ resource, object: `${resource}.csv` })
        await host.settled()
        const text = await host.textOf('etl-export', `${resource}.csv`)
        await series.remove({ resource })
        await host.put(`upload/${resource}.csv`, text, BUCKET)
        await host.settled()
        expect(await read(), text).toEqual(before)
      }),
      runs(40),
    )
  }, 60_000)

  it('names the type of a column only if its cells would be read as another type', async () => {
    const { series } = host.storage.tenant(TENANT)
    const of = (metric: string, ...values: readonly (string | number | boolean)[]) =>
      values.map((value, time) => ({ resource: 'x', metric, time, value }))
    await series.append({
      samples: [
        ...of('a', 1, 2),
        ...of('b', 'on', '5'),
        ...of('c', '5', '6'),
        ...of('d', 1, 'on'),
        ...of('e', 1e-7),
        ...of('f', '', 'x'),
      ],
    })
    await api().startExport({ resource: 'x', object: 'x.csv' })
    await host.settled()
    expect((await host.textOf('etl-export', 'x.csv')).split('\n')).toEqual([
      'resource,timestamp,a,b,c:text,d:json,e:number,f:json',
      'x,1970-01-01T00:00:00.000Z,1,on,5,1,1e-7,""""""',
      'x,1970-01-01T00:00:00.001Z,2,5,6,"""on""",,"""x"""',
      '',
    ])
  })

  it('of a time range is queued, and has a size when it is complete', async () => {
    const { series } = host.storage.tenant(TENANT)
    const samples = [0, 5_000, 5_001].map((time) => ({ resource: 'b,1', metric: 'level', time, value: time }))
    await series.append({ samples })
    const begun = await api().startExport({ resource: 'b,1', until: 5_000, object: 'b.csv' })
    expect(begun).toMatchObject({ state: 'waiting', object: 'b.csv' })
    await host.settled()
    expect(await api().export(begun.id)).toMatchObject({ state: 'completed', size: 94 })
    expect(await host.textOf('etl-export', 'b.csv')).toBe(
      'resource,timestamp,level\n"b,1",1970-01-01T00:00:00.000Z,0\n"b,1",1970-01-01T00:00:05.000Z,5000\n',
    )
  })

  it('of more than one page per metric contains every row once', async () => {
    const { series } = host.storage.tenant(TENANT)
    for (const metric of ['a', 'b']) {
      const every = metric === 'a' ? 1 : 3
      const samples = Array.from({ length: 25_000 }, (_, n) => ({ resource: 'r', metric, time: n * every, value: n }))
      await series.append({ samples })
    }
    const { object } = await api().startExport({ resource: 'r' })
    await host.settled()
    const lines = (await host.textOf('etl-export', object)).trimEnd().split('\n')
    const times = new Set(lines.slice(1).map((line) => line.split(',')[1]))
    // every third time among the first 25,000 occurs in both
    expect([lines.length - 1, times.size]).toEqual([25_000 + 25_000 - 8_334, 25_000 + 25_000 - 8_334])
  })

  it('without data fails, and explains why', async () => {
    const { id } = await api().startExport({ resource: 'nobody' })
    await host.settled()
    expect(await api().export(id)).toMatchObject({ state: 'failed', error: 'the resource nobody has no series' })
    await expect(api().export('none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
