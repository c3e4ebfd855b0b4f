/** Files that are put into a bucket become series, and series files. */
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import type { SubscriptionsHost } from '../subscriptions/world.ts'
import { SubscriptionsWorld, TENANT } from '../subscriptions/world.ts'

const BUCKET = 'etl-import'
const rows = (count: number, from = 0): string =>
  Array.from({ length: count }, (_, n) => `boiler-${n % 3},${1_767_225_600_000 + (from + n) * 1_000},${n}\n`).join('')
const CSV = `resource,timestamp,level\n${rows(10)}boiler-1,never,5\n`

const valuesOf = async ({ storage }: SubscriptionsHost, resource: string): Promise<readonly unknown[]> => {
  const { series } = storage.tenant(TENANT)
  return (await series.range({ resources: [resource], metric: 'level' })).map(({ value }) => value)
}
const apiOf = ({ transfers }: SubscriptionsHost) => transfers.as({ tenant: TENANT, user: 'users/1' })

async function reported(host: SubscriptionsHost, path: string): Promise<Record<string, unknown>> {
  return JSON.parse(await host.textOf(BUCKET, `${path}.report.json`)) as Record<string, unknown>
}

// Holds IMPORT-1, IMPORT-2
describe('a file that is put under upload/', () => {
  it('is in series, and a report beside it names each line that was refused', async () => {
    const host = await new SubscriptionsWorld().host()
    await host.put('upload/boilers.csv', CSV, BUCKET)
    await host.settled()
    expect(await valuesOf(host, 'boiler-1')).toEqual([1, 4, 7])
    expect(await reported(host, 'upload/boilers.csv')).toMatchObject({
      object: 'upload/boilers.csv',
      state: 'completed',
      messages: 10,
      points: 10,
      refused: 1,
      lines: [{ line: 12, message: '"never" is not a time' }],
    })
    const [one] = await apiOf(host).imports()
    expect(one).toMatchObject({ state: 'completed', object: 'upload/boilers.csv', points: 10, refused: 1 })
    expect(one?.read).toBe(one?.size)
    expect(await apiOf(host).import(one?.id ?? '')).toMatchObject({ lines: [{ line: 12 }] })
    await host.stop()
  })

  it('is imported again when it is put again, packed or not, and not for its report or elsewhere', async () => {
    const host = await new SubscriptionsWorld().host()
    await host.put('upload/a.csv', CSV, BUCKET)
    await host.put('upload/a.csv', gzipSync(CSV), BUCKET)
    await host.put('other/a.csv', CSV, BUCKET)
    await host.put('upload/a.csv', CSV, 'assets')
    await host.settled()
    expect((await apiOf(host).imports()).map(({ state }) => state).toSorted()).toEqual(['completed', 'failed'])
    expect(await apiOf(host).imports({ state: 'completed', object: 'upload/a.csv' })).toHaveLength(1)
    await host.stop()
  })

  it('that holds nothing, or cannot be unpacked, says so in its report', async () => {
    const host = await new SubscriptionsWorld().host()
    const torn = gzipSync(CSV)
    await host.put('upload/empty.csv', '', BUCKET)
    await host.put('upload/torn.gz', torn.subarray(0, torn.length - 10), BUCKET)
    await host.put('upload/text.txt', 'hello\nworld\n', BUCKET)
    await host.settled()
    const reportOf = (name: string) => reported(host, `upload/${name}`)
    expect(await reportOf('empty.csv')).toMatchObject({ state: 'completed', error: 'there is no message in it' })
    expect(await reportOf('torn.gz')).toMatchObject({ state: 'failed', error: 'unexpected end of file' })
    expect(await reportOf('text.txt')).toMatchObject({
      state: 'completed',
      points: 0,
      lines: [{ line: 1, message: expect.stringContaining('no column is named "timestamp"') as unknown }],
    })
    await host.stop()
  })

  it('whose path has no room for that of a report is imported without one, and says so', async () => {
    const host = await new SubscriptionsWorld().host()
    await host.put(`upload/${'x'.repeat(1_017)}`, CSV, BUCKET)
    await host.settled()
    expect(await apiOf(host).imports()).toMatchObject([
      { state: 'completed', points: 10, error: expect.stringContaining('it has no report') as unknown },
    ])
    await host.stop()
  })

  it('names the first thousand lines that are refused, and counts all', async () => {
    const host = await new SubscriptionsWorld().host()
    await host.put('upload/bad.csv', `resource,timestamp,level\n${'a,never,1\n'.repeat(1_500)}`, BUCKET)
    await host.settled()
    const report = await reported(host, 'upload/bad.csv')
    expect(report).toMatchObject({ refused: 1_500, named: 1_000 })
    expect(report['lines']).toHaveLength(1_000)
    await host.stop()
  })

  it('goes on where it was when the host dies at any place, and counts each line once', async () => {
    const text = `resource,timestamp,level\n${rows(50_000)}x,never,1\n`
    for (const commits of [3, 6, 9, 12, 15, 18]) {
      const world = new SubscriptionsWorld()
      const dying = await world.host()
      dying.dieAfter(commits)
      await dying.put('upload/a.csv', text, BUCKET).catch(() => undefined)
      await dying.settled().catch(() => undefined)
      await dying.kill()
      const host = await world.host()
      const isThere = await host.objects
        .inside(TENANT)
        .stat(BUCKET, 'upload/a.csv')
        .then(
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

describe('an export', () => {
  it('of the history of a resource is a file that can be imported', async () => {
    const host = await new SubscriptionsWorld().host()
    const { series } = host.storage.tenant(TENANT)
    const samples = [
      { resource: 'b,1', metric: 'level', time: 0, value: 1.5 },
      { resource: 'b,1', metric: 'mode', time: 0, value: 'on "hold"' },
      { resource: 'b,1', metric: 'level', time: 1_000, value: 2 },
      { resource: 'b,1', metric: 'ok', time: 2_000, value: true },
      { resource: 'b,1', metric: 'level', time: 9_000, value: 3 },
    ]
    await series.append({ samples })
    const begun = await apiOf(host).startExport({ resource: 'b,1', until: 5_000, object: 'b.csv' })
    expect(begun).toMatchObject({ state: 'waiting', object: 'b.csv' })
    await host.settled()
    expect(await apiOf(host).export(begun.id)).toMatchObject({
      state: 'completed',
      size: expect.any(Number) as unknown,
    })
    const text = await host.textOf('etl-export', 'b.csv')
    expect(text).toBe(
      [
        'resource,timestamp,level,mode,ok',
        '"b,1",1970-01-01T00:00:00.000Z,1.5,"on ""hold""",',
        '"b,1",1970-01-01T00:00:01.000Z,2,,',
        '"b,1",1970-01-01T00:00:02.000Z,,,true',
        '',
      ].join('\n'),
    )
    await series.remove({ resource: 'b,1' })
    await host.put('upload/b.csv', text, BUCKET)
    await host.settled()
    expect(await series.range({ resources: ['b,1'], metric: 'mode' })).toEqual([samples[1]])
    await host.stop()
  })

  it('of more than one page of each metric has every row once', async () => {
    const host = await new SubscriptionsWorld().host()
    const { series } = host.storage.tenant(TENANT)
    for (const metric of ['a', 'b']) {
      const every = metric === 'a' ? 1 : 3
      const samples = Array.from({ length: 25_000 }, (_, n) => ({ resource: 'r', metric, time: n * every, value: n }))
      await series.append({ samples })
    }
    const { object } = await apiOf(host).startExport({ resource: 'r' })
    await host.settled()
    const lines = (await host.textOf('etl-export', object)).trimEnd().split('\n')
    const times = new Set(lines.slice(1).map((line) => line.split(',')[1]))
    // each third time of the first 25,000 is one of both
    expect([lines.length - 1, times.size]).toEqual([25_000 + 25_000 - 8_334, 25_000 + 25_000 - 8_334])
    await host.stop()
  })

  it('of nothing fails, and says why', async () => {
    const host = await new SubscriptionsWorld().host()
    const { id } = await apiOf(host).startExport({ resource: 'nobody' })
    await host.settled()
    expect(await apiOf(host).export(id)).toMatchObject({ state: 'failed', error: 'there are no series of nobody' })
    await expect(apiOf(host).export('none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await host.stop()
  })

  it.each([
    [undefined, ['', '', '/resource']],
    [{ resource: 'a', stored: 'b' }, ['']],
    [{ resource: 'a', metrics: [], from: 'x', until: 5, color: 1 }, ['/color', '/metrics', '/from']],
    [{ resource: 'a', from: 6, until: 5 }, ['/until']],
    [{ resource: 'a', object: '/x/' }, ['/object']],
    [{ resource: 'a', object: '.hidden/x' }, ['/object']],
  ])('of %j is refused with everything that is wrong', async (body, paths) => {
    const host = await new SubscriptionsWorld().host()
    const error = await apiOf(host)
      .startExport(body)
      .then(
        () => expect.fail('it was taken'),
        (refused: AppError) => refused,
      )
    expect(error.issues.map(({ path }) => path)).toEqual(paths)
    await host.stop()
  })
})
