/** Tests backups of a data folder under a working host: what they contain, how they restore, and what is rejected. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { wholeHost, type WholeHost } from '../host/whole-host.ts'
import { testFolder } from '../support/test-folder.ts'
import { cli } from './run-cli.ts'

const root = testFolder()
let folders = 0
const folder = (): string => join(root, `f${(folders += 1)}`)

const RULE = {
  sensors: [
    {
      label: 'hot',
      name: 'streamingDataSensor',
      resource: '$',
      properties: { parameter: 'n', threshold: 0 },
    },
  ],
  actuators: [
    {
      label: 'alarm',
      name: 'createAlarm',
      properties: { type: 'HOT', severity: 'MAJOR', text: 'hot' },
    },
  ],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'] }],
  task: { name: 'count messages', type: 'reactive', resource: 'pump' },
}

const post = (host: WholeHost, n: number) => host.done('POST', '/resources/pump/events', { n })
/** Stores an object, with a text that names it. */
async function putObject(host: WholeHost, n: number): Promise<void> {
  const signed = await host.done<{ _links: { put_object: { href: string; headers: Record<string, string> } } }>(
    'GET',
    `/storage/v1/bucket/assets/report-${n}.txt?sign=PUT&content_type=text/plain`,
  )
  const { href, headers } = signed._links.put_object
  const { host: address, pathname, search } = new URL(href)
  const payload = `report ${n} `.repeat(n)
  const put = await host.app.inject({
    method: 'PUT',
    url: pathname + search,
    headers: { ...headers, host: address },
    payload,
  })
  expect(put.statusCode).toBe(200)
}

/** What a host has of the messages: values of the series, alarm with its count, and names of objects. */
async function contentOf(host: WholeHost) {
  const { series } = await host.done<{ series: readonly [time: number, value: number][] }>(
    'GET',
    '/resources/pump/series/n/last?limit=1000',
  )
  const { alarms } = await host.done<{ alarms: readonly { count: number; text: string }[] }>('GET', '/alarm/alarms')
  const listed = await host.done<{ files?: readonly { name: string }[] }>('GET', '/storage/v1/bucket/assets/')
  return { values: series.map(([, value]) => value).sort((a, b) => a - b), alarms, objects: JSON.stringify(listed) }
}

const backup = async (target: string, data: string, ...more: readonly string[]) => {
  const done = await cli(['backup', target, '--data', data, '--json', ...more])
  expect(done).toMatchObject({ code: 0, stderr: '' })
  return JSON.parse(done.stdout) as { name: string; files: number; bytes: number; written: number; removed: string[] }
}

async function restored(target: string, ...more: readonly string[]): Promise<string> {
  const data = folder()
  expect(await cli(['restore', target, '--data', data, ...more])).toMatchObject({ code: 0, stderr: '' })
  return data
}

describe('a backup of a host under load', () => {
  it('has everything acknowledged before it, at one position of messages, tasks and alarms', async () => {
    const [data, target] = [folder(), folder()]
    const acknowledgedBefore: [name: string, n: number][] = []
    {
      await using host = await wholeHost({ data })
      await host.done('POST', '/api/tasks', RULE)
      let n = 0
      const over = new AbortController()
      const load = (async () => {
        while (!over.signal.aborted) {
          await post(host, (n += 1))
          if (n % 20 === 0) await putObject(host, n)
        }
      })()
      for (let round = 0; round < 3; round++) {
        const before = n - 1
        acknowledgedBefore.push([(await backup(target, data)).name, before])
      }
      over.abort()
      await load
    }
    for (const [name, before] of acknowledgedBefore) {
      const copy = await restored(target, '--at', name)
      await using host = await wholeHost({ data: copy })
      const { values, objects } = await contentOf(host)
      const last = values.length
      expect(values).toEqual(Array.from({ length: last }, (_, at) => at + 1))
      expect(last).toBeGreaterThanOrEqual(before)
      const countOfAlarm = () =>
        expect.poll(async () => (await contentOf(host)).alarms.map(({ count }) => count), { timeout: 20_000 })
      await countOfAlarm().toEqual([last])
      for (let n = 20; n <= before; n += 20) expect(objects).toContain(`report-${n}.txt`)
      // the restored host continues
      await post(host, last + 1)
      await countOfAlarm().toEqual([last + 1])
    }
  })
})

describe('backups of one folder', () => {
  // Holds BACKUP-2
  it('store only what changed, are listed and verified, and are removed beyond --keep', async () => {
    const [data, target] = [folder(), folder()]
    {
      await using host = await wholeHost({ data })
      await post(host, 1)
      await putObject(host, 50)
    }
    const first = await backup(target, data)
    const second = await backup(target, data)
    expect([first.written > 0, second.written, second.files]).toEqual([true, 0, first.files])
    const listed = JSON.parse((await cli(['backup', target, '--list', '--json'])).stdout) as {
      backups: { name: string }[]
    }
    expect(listed.backups.map(({ name }) => name)).toEqual([first.name, second.name])
    expect(await cli(['backup', target, '--verify'])).toEqual({
      code: 0,
      stdout: `the backup ${second.name} is intact: read ${second.files} files\n`,
      stderr: '',
    })
    {
      await using host = await wholeHost({ data })
      await host.done('DELETE', '/storage/v1/bucket/assets/report-50.txt')
    }
    const third = await backup(target, data, '--keep', '1')
    expect(third.removed).toEqual([first.name, second.name])
    expect(third.files).toBe(first.files - 1)
    expect((await cli(['backup', target, '--verify'])).code).toBe(0)
    const copy = await restored(target)
    await using host = await wholeHost({ data: copy })
    expect((await contentOf(host)).values).toEqual([1])
  })
})

/** A small backup, and the folder that it is of. */
async function smallBackup(): Promise<{ readonly data: string; readonly target: string; readonly manifest: string }> {
  const [data, target] = [folder(), folder()]
  {
    await using host = await wholeHost({ data })
    await post(host, 1)
  }
  const { name } = await backup(target, data)
  return { data, target, manifest: join(target, 'manifests', `${name}.json`) }
}

describe('a backup that is damaged', () => {
  it('is reported by --verify and rejected by restore before anything is written', async () => {
    const { target, manifest } = await smallBackup()
    const name = JSON.parse(readFileSync(manifest, 'utf8')) as { files: { path: string; chunks: string[] }[] }
    const chunk = name.files.find(({ path }) => path === 'state.db')?.chunks[0] ?? ''
    const path = join(target, 'chunks', chunk.slice(0, 2), chunk)
    const whole = readFileSync(path)
    writeFileSync(
      path,
      whole.map((byte, at) => (at === 9 ? byte ^ 1 : byte)),
    )
    const verified = await cli(['backup', target, '--verify'])
    expect([verified.code, verified.stdout]).toEqual([1, expect.stringContaining(`state.db: chunk ${chunk}: `)])
    const data = folder()
    const outcome = await cli(['restore', target, '--data', data])
    expect([outcome.code, outcome.stderr]).toEqual([1, expect.stringContaining(`chunk ${chunk}: `)])
    expect([existsSync(data), readdirSync(root).filter((one) => one.includes('restoring'))]).toEqual([false, []])
    rmSync(path)
    expect((await cli(['restore', target, '--data', data])).stderr).toContain(
      `is incomplete: state.db lacks chunk ${chunk}`,
    )
  })

  it('cannot write outside of the new folder', async () => {
    const { target, manifest } = await smallBackup()
    const content = JSON.parse(readFileSync(manifest, 'utf8')) as { files: object[] }
    for (const path of ['../escaped', 'blobs/../../escaped', '/escaped', 'blobs/a\\b']) {
      writeFileSync(manifest, JSON.stringify({ ...content, files: [...content.files, { path, size: 0, chunks: [] }] }))
      const outcome = await cli(['restore', target, '--data', folder()])
      expect(outcome.stderr).toContain(`the manifest contains the path "${path}", which is not valid`)
    }
    expect(existsSync(join(root, 'escaped'))).toBe(false)
  })
})

describe('what cannot be backed up or restored', () => {
  it.each<[string, (of: { data: string; target: string }) => readonly string[], string]>([
    [
      'a target in the data folder',
      ({ data }) => ['backup', join(data, 'b'), '--data', data],
      'is within the folder of --data',
    ],
    [
      'a target around the data folder',
      ({ data }) => ['backup', root, '--data', data],
      'or contains it; use a folder apart',
    ],
    [
      'a target with other files',
      ({ data }) => ['backup', join(import.meta.dirname, 'html'), '--data', data],
      'does not contain backups',
    ],
    [
      'a folder without data',
      ({ target }) => ['backup', target, '--data', join(root, 'none')],
      'state.db: does not exist',
    ],
    [
      'a number below 1',
      ({ data, target }) => ['backup', target, '--data', data, '--keep', '0'],
      '--keep: "0" is not a valid number',
    ],
    [
      'an unknown backup',
      ({ target }) => ['restore', target, '--data', folder(), '--at', 'x'],
      'the backup x does not exist; use one of 2',
    ],
    [
      'a used folder',
      ({ data, target }) => ['restore', target, '--data', data],
      'is not empty; restore into a new folder',
    ],
    ['a folder that is not there', () => ['restore', join(root, 'no'), '--data', folder()], 'does not contain backups'],
  ])('%s is rejected with the remedy', async (_what, words, message) => {
    const outcome = await cli(words(await shared))
    expect([outcome.code, outcome.stdout]).toEqual([1, ''])
    expect(outcome.stderr).toContain(message)
  })

  it('has the number of another format', async () => {
    const { target, manifest } = await smallBackup()
    const content = JSON.parse(readFileSync(manifest, 'utf8')) as { formats: object }
    writeFileSync(manifest, JSON.stringify({ ...content, formats: { ...content.formats, 'state.db': 1_000 } }))
    expect((await cli(['restore', target, '--data', folder()])).stderr).toMatch(
      /was written by a newer version of this program .* its state\.db has format 1000/,
    )
    writeFileSync(join(target, 'backup.json'), JSON.stringify({ format: 2 }))
    expect((await cli(['backup', target, '--list'])).stderr).toContain('has format 2, this program uses format 1')
  })

  it('has series that lack more than the log contains', async () => {
    const { data, target } = await smallBackup()
    const state = new DatabaseSync(join(data, 'state.db'))
    state.exec('UPDATE logs SET first = 1000000')
    state.close()
    const outcome = await cli(['backup', target, '--data', data])
    expect([outcome.code, outcome.stderr]).toEqual([
      1,
      expect.stringContaining('series.db is older than the log in state.db'),
    ])
    expect((await cli(['backup', target, '--list', '--json'])).stdout.match(/"name"/g)).toHaveLength(1)
  })

  // Holds BACKUP-1
  it('was interrupted: earlier backups stay, and leftovers are removed by the next one', async () => {
    const { data, target } = await smallBackup()
    mkdirSync(join(target, 'temporary'))
    writeFileSync(join(target, 'temporary', 'state.db'), 'half')
    cpSync(join(data, 'state.db'), join(target, 'chunks', '00', 'half.new'), { recursive: true })
    await backup(target, data, '--keep', '1')
    expect(existsSync(join(target, 'temporary'))).toBe(false)
    expect(existsSync(join(target, 'chunks', '00', 'half.new'))).toBe(false)
    expect((await cli(['backup', target, '--verify'])).code).toBe(0)
  })
})

const shared = smallBackup()
