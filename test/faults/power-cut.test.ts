/**
 * A host whose machine loses power: what it did to its disk is recorded, and disks are made of it as a power cut at some
 * moment would leave them. On each of them a host starts and has everything that was acknowledged before.
 */
import { mkdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { runDoctor } from '../../src/cli/doctor.ts'
import { readConfig } from '../../src/host/config.ts'
import { startHost } from '../../src/host/running-host.ts'
import { nextSeed, randomOf } from '../../src/kernel/random.ts'
import { Served } from '../cli/served.ts'
import { ANY_TIME } from '../support/any-time.ts'
import { Disk, type Leaving } from './power-cut/disk.ts'
import { compiledRecorder, readRecording } from './power-cut/recording.ts'
import { testFolder } from '../support/test-folder.ts'

const times = Number(process.env['FC_TIMES'] ?? 1)
const RESOURCES = ['boiler', 'pump', 'valve']
const POSTS = 120
/** so long a text in some of them that the log is carried into the database meanwhile */
const LONG = 60_000
const OBJECTS = 24
const CUTS = 6 * times
const SERVICES = ['broker', 'objects', 'vault'] as const

const folder = realpathSync(testFolder())
const data = join(folder, 'data')
const recording = join(folder, 'recording')
const headers = { authorization: `Basic ${btoa('k:s')}` }

const FIRST_SEED = Number(process.env['FC_SEED'] ?? Date.now())
let seed = FIRST_SEED
const random = (): number => randomOf((seed = nextSeed(seed)))

/** What a client knows, by the length of the recording at that moment. */
interface Known {
  readonly from: number
  /** begins to change it again; from then on nothing is certain */
  readonly until: number
}
interface KnownPost extends Known {
  readonly resource: string
  readonly time: number
}
interface KnownObject extends Known {
  readonly path: string
  /** undefined: it was removed */
  readonly content: string | undefined
}

const posts: KnownPost[] = []
const objects: KnownObject[] = []
const length = (): number => statSync(recording).size

async function post(url: string, n: number): Promise<void> {
  const resource = RESOURCES[n % RESOURCES.length] ?? ''
  const time = 1_000 + n
  const body = JSON.stringify({ level: n, timestamp: time, ...(n % 2 === 0 && { text: 'x'.repeat(LONG) }) })
  const answer = await fetch(`${url}/resources/${resource}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  })
  expect(answer.status).toBeLessThan(300)
  posts.push({ resource, time, from: length(), until: Infinity })
}

const assets = (url: string, path: string): string => `${url}/storage/v1/bucket/assets/${path}`

/** An address that opens an object for one method; undefined where none was signed. */
async function signed(url: string, path: string, method: 'GET' | 'PUT'): Promise<string | undefined> {
  const answer = await fetch(`${assets(url, path)}?sign=${method}`, { headers })
  return /"href":"([^"]*)"/.exec(await answer.text())?.[1]
}

async function putObject(url: string, n: number): Promise<void> {
  const [path, content] = [`plan-${n}`, `content ${n} `.repeat(n * 200 + 1)]
  const address = await signed(url, path, 'PUT')
  expect((await fetch(address ?? '', { method: 'PUT', body: content })).status).toBe(200)
  const from = length()
  if (n % 3 !== 0) return void objects.push({ path, content, from, until: Infinity })
  objects.push({ path, content, from, until: length() })
  expect((await fetch(assets(url, path), { method: 'DELETE', headers })).status).toBeLessThan(300)
  objects.push({ path, content: undefined, from: length(), until: Infinity })
}

async function inTurn(count: number, work: (n: number) => Promise<void>): Promise<void> {
  for (let n = 0; n < count; n++) await work(n)
}

const recorder = compiledRecorder(folder)
if (recorder === undefined) {
  process.stderr.write(
    '\nNOT TESTED: what a power cut leaves. It takes Linux and gcc (apt-get install gcc libc6-dev)\n',
  )
}

describe.skipIf(recorder === undefined)('a host whose machine loses power', () => {
  let started = 0
  beforeAll(async () => {
    mkdirSync(data)
    const options = ['--empty', '--only', SERVICES.join(','), '--max-ahead', 'off', '--max-behind', 'off']
    const env = { LD_PRELOAD: recorder ?? '', RECORD_FOLDER: data, RECORD_TO: recording }
    const pair = { REFLEXARC_API_KEY: 'k', REFLEXARC_API_SECRET: 's' }
    await using host = new Served(folder, options, { ...env, ...pair })
    const url = await host.listening()
    started = length()
    const rest = Math.ceil(POSTS / 3)
    await Promise.all([
      inTurn(rest, (n) => post(url, n)),
      inTurn(rest, (n) => post(url, rest + n)),
      inTurn(rest, (n) => post(url, 2 * rest + n)),
      inTurn(OBJECTS, (n) => putObject(url, n)),
    ])
  })

  it('contains everything acknowledged, on any possible disk content', async () => {
    const steps = [...readRecording(recording)]
    const acknowledged = [...posts, ...objects].map(({ from }) => from)
    const end = steps.at(-1)?.end ?? 0
    const cuts = Array.from({ length: CUTS }, (_, i) =>
      // right behind an answer nothing has happened since that could make up for what was left out
      i % 2 === 0
        ? (acknowledged[Math.floor(random() * acknowledged.length)] ?? end)
        : started + random() * (end - started),
    ).sort((one, other) => one - other)
    const state = steps.flatMap(({ step }) =>
      step.kind === 'create' && step.path.endsWith('/state.db') ? step.file : [],
    )
    const carried = steps.filter(
      ({ step, end: at }) => step.kind === 'write' && state.includes(step.file) && at > started,
    )
    expect(carried.length, 'pages that went from the log into state.db').toBeGreaterThan(100)
    const disk = new Disk(data)
    let next = 0
    for (const cut of [started, ...cuts]) {
      for (let step = steps[next]; step !== undefined && step.end <= cut; step = steps[++next]) disk.apply(step.step)
      for (const leaving of ['dropped', 'torn'] as const) await check(disk, cut, leaving)
    }
  })
})

async function check(disk: Disk, cut: number, leaving: Leaving): Promise<void> {
  const left = join(folder, `${cut} ${leaving}`)
  disk.leave(left, leaving, random)
  const where = `FC_SEED ${FIRST_SEED}, cut at ${cut}, ${leaving}`
  for (const key of ['token.key', 'seal.key']) {
    expect(readFileSync(join(left, key), 'utf8'), where).toBe(readFileSync(join(data, key), 'utf8'))
  }
  const given = { port: 0, store: 'sqlite:', data: left, key: 'k', secret: 's', empty: true, ...ANY_TIME }
  const host = await startHost(readConfig(given, {}, SERVICES), { write: () => undefined }, { hashCost: 2 })
  const ask = (path: string) => fetch(host.url + path, { headers })
  for (const resource of RESOURCES) {
    const answer = await ask(`/resources/${resource}/series/level?from=0&until=100000&limit=10000`)
    const { series = [] } = (await answer.json()) as { series?: readonly (readonly [number, number])[] }
    const found = new Map(series)
    const lost = posts.filter((one) => one.resource === resource && one.from <= cut && !found.has(one.time))
    expect(lost, where).toEqual([])
  }
  for (const { path, content, from, until } of objects) {
    if (from > cut || until < cut) continue
    const answer = await fetch((await signed(host.url, path, 'GET')) ?? '')
    const text = answer.status === 404 ? undefined : await answer.text()
    expect([path, text], where).toEqual([path, content])
  }
  await host.stop()
  const quiet = { out: () => undefined }
  expect(await runDoctor({ data: left }, {}, quiet, Date.now), where).toBe(0)
  rmSync(left, { recursive: true })
}
