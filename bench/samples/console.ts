/**
 * Sample of the console: sizes of the downloaded files, the layout of a graph, frames under load, the zoom of a plot,
 * what its streams cost the host.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { chromium, type Page } from 'playwright-core'
import { layered } from '../../src/console/graph/layout.ts'
import { openMemoryBlobs } from '../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import { median } from '../figures.ts'
import { withFolder } from './host/folder.ts'
import type { Connection } from './host/connection.ts'
import { type HostProcess, startHostProcess } from './host/host-process.ts'

export type ConsoleSubject = 'first' | 'editor' | 'layout' | 'frames' | 'zoom' | 'streams'

/** kB zipped, ms, or percent */
export interface ConsoleSample {
  readonly figure: number
}

const NODES = 300
const TASKS = 1_000
const CHANGES = 200
const SECONDS = 5
const POINTS = 1_000_000
const PER_APPEND = 10_000
const THROTTLE = 4
/** One of so many resources is on the screen: 200 changes a second at 10,000 posts. */
const FLEET = 50
const POSTS = 8_000
const PAIRS = 10
const CLIENTS = 8

const SAMPLES: Readonly<Record<ConsoleSubject, () => number | Promise<number>>> = {
  first: () => sizeOf('overview'),
  editor: () => sizeOf('editor'),
  layout: layoutMs,
  frames: () => inConsole(async () => {}, framesMs),
  zoom: () => inConsole(fill, zoomMs),
  streams: streamsPercent,
}

export async function consoleSample({ subject }: { subject: ConsoleSubject }): Promise<ConsoleSample> {
  return { figure: await SAMPLES[subject]() }
}

/** kB of the chunk of a screen, zipped; of the overview with all that the first page loads. */
function sizeOf(screen: 'overview' | 'editor'): number {
  const program = join(import.meta.dirname, '../../.ci/console.mjs')
  const folder = execFileSync(process.execPath, [program], { encoding: 'utf8' })
  const names = readdirSync(join(folder, 'assets'))
  const read = (name: string): string => readFileSync(join(folder, 'assets', name), 'utf8')
  const chunk = names.find((name) => name.startsWith(`${screen}-`) && name.endsWith('.js')) ?? ''
  const loaded = new Set<string>()
  const add = (name: string): void => {
    if (loaded.has(name)) return
    loaded.add(name)
    if (name.endsWith('.js'))
      for (const [, next = ''] of read(name).matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)) add(next)
  }
  if (screen === 'overview') {
    const page = readFileSync(join(folder, 'index.html'), 'utf8')
    for (const [, name = ''] of page.matchAll(/(?:src|href)="\.\/assets\/([\w.-]+)"/g)) add(name)
    add(chunk)
  } else loaded.add(chunk)
  return [...loaded].reduce((sum, name) => sum + gzipSync(read(name), { level: 9 }).length, 0) / 1_000
}

function layoutMs(): number {
  const nodes = Array.from({ length: NODES }, (_, at) => ({ label: `n${at}`, height: 90 }))
  const edges = nodes
    .slice(1)
    .flatMap(({ label }, at) => [
      { from: `n${Math.floor(at / 3)}`, to: label },
      ...(at % 7 === 0 ? [{ from: `n${Math.floor(at / 2)}`, to: label }] : []),
    ])
  return median(
    Array.from({ length: 5 }, () => {
      const start = process.cpuUsage()
      layered(nodes, edges)
      return process.cpuUsage(start).user / 1_000
    }),
  )
}

const LIMIT = {
  sensors: [
    {
      label: 'temperature',
      name: 'streamingDataSensor',
      resource: '$',
      properties: { parameter: 'temperature', threshold: 80 },
    },
  ],
  actuators: [{ label: 'note', name: 'log', properties: { message: 'hot' } }],
  triggers: [{ sourceLabel: 'temperature', destinationLabel: 'note', begins: ['Above'] }],
}

async function inConsole(
  prepare: (folder: string) => Promise<void>,
  work: (page: Page, host: HostProcess) => Promise<number>,
): Promise<number> {
  return withFolder(async (folder) => {
    await prepare(folder)
    const host = await startHostProcess(folder)
    const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
    try {
      const [connection] = await host.connect(1)
      const link = (await connection?.expect(201, 'POST', '/auth/v1/links', '{}')) ?? '{}'
      const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } })
      await page.goto(host.url + (JSON.parse(link) as { readonly path: string }).path)
      await page.getByRole('button', { name: 'Log out' }).waitFor()
      return await work(page, host)
    } finally {
      await browser.close()
      await host.stop()
    }
  })
}

async function startTasks(connection: Connection | undefined, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const task = { ...LIMIT, task: { name: `task ${n}`, resource: `boiler-${n}`, start: true } }
    const created = (await connection?.expect(201, 'POST', '/api/tasks', JSON.stringify(task))) ?? '{}'
    ids.push((JSON.parse(created) as { readonly ID: string }).ID)
  }
  return ids
}

/** Main thread's work for a frame, while the shown task changes 200 times a second beside 1,000 others. */
async function framesMs(page: Page, host: HostProcess): Promise<number> {
  const [connection] = await host.connect(1)
  const ids = await startTasks(connection, TASKS)
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: THROTTLE })
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  await page.goto(`${host.url}/console/tasks/${ids[0]}`)
  await page.getByRole('button', { name: /^temperature / }).waitFor()
  await page.evaluate('window.frames_ = 0; const count = () => { frames_++; requestAnimationFrame(count) }; count()')
  const workOf = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000
  }
  const [before, first] = [await workOf(), Number(await page.evaluate('frames_'))]
  const start = performance.now()
  for (let n = 0; n < CHANGES * SECONDS; n++) {
    const body = JSON.stringify({ temperature: n % 2 === 0 ? 70 : 90 })
    await connection?.ask('POST', '/resources/boiler-0/events', body)
    const early = start + (n * 1_000) / CHANGES - performance.now()
    if (early > 1) await new Promise((resolve) => setTimeout(resolve, early))
  }
  return ((await workOf()) - before) / (Number(await page.evaluate('frames_')) - first)
}

async function fill(folder: string): Promise<void> {
  const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  const { series } = storage.tenant('default')
  const from = Date.now() - POINTS * 600
  for (let first = 0; first < POINTS; first += PER_APPEND) {
    const samples = Array.from({ length: PER_APPEND }, (_, at) => {
      const place = first + at
      return {
        resource: 'boiler-0',
        metric: 'temperature',
        time: from + place * 600,
        value: 80 + 18 * Math.sin(place / 997),
      }
    })
    await series.append({ samples })
  }
  await storage.close()
}

/** From the end of a drag over half of a week's plot until the zoomed plot is drawn. */
async function zoomMs(page: Page, host: HostProcess): Promise<number> {
  const [connection] = await host.connect(1)
  await connection?.ask('POST', '/resources/boiler-0/events', '{"temperature": 80}')
  const first = page.waitForResponse(/series\/temperature/)
  await page.goto(`${host.url}/console/resources/boiler-0?range=7d`)
  await first
  const plot = page.locator('.u-over')
  await plot.waitFor()
  const box = await plot.boundingBox()
  if (box === null) throw new Error('the plot has no size')
  await page.mouse.move(box.x + box.width * 0.25, box.y + 50)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.75, box.y + 50, { steps: 4 })
  const answered = page.waitForResponse(/series\/temperature/)
  const start = performance.now()
  await page.mouse.up()
  await answered
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  return performance.now() - start
}

/** The host's CPU per post while the streams of a task's screen are read, above that without: the median of pairs. */
async function streamsPercent(): Promise<number> {
  return withFolder(async (folder) => {
    const host = await startHostProcess(folder)
    try {
      const connections = await host.connect(CLIENTS)
      const [task] = await startTasks(connections[0], FLEET)
      let sent = 0
      const post = async (connection: Connection, last: number): Promise<void> => {
        while (sent < last) {
          const n = sent++
          const body = JSON.stringify({ temperature: Math.floor(n / FLEET) % 2 === 0 ? 70 : 90 })
          await connection.ask('POST', `/resources/boiler-${n % FLEET}/events`, body)
        }
      }
      const spent = async (paths: readonly string[]): Promise<number> => {
        const ending = new AbortController()
        const headers = { authorization: `Bearer ${host.token}`, accept: 'text/event-stream' }
        const streams = await Promise.all(
          paths.map((path) => fetch(host.url + path, { headers, signal: ending.signal })),
        )
        const read = streams.map(async ({ body }) => body?.pipeTo(new WritableStream()).catch(() => {}))
        await host.figures('collect')
        const last = sent + POSTS
        await Promise.all(connections.map((connection) => post(connection, last)))
        const { cpu } = await host.figures()
        ending.abort()
        await Promise.all(read)
        return cpu
      }
      const screen = [`/api/tasks/${task}/events`, '/alarm/events']
      await spent([])
      const shares: number[] = []
      for (let n = 0; n < PAIRS; n++) {
        const [first, second] = n % 2 === 0 ? [[], screen] : [screen, []]
        const [one, other] = [await spent(first ?? []), await spent(second ?? [])]
        shares.push(n % 2 === 0 ? other / one : one / other)
      }
      return (median(shares) - 1) * 100
    } finally {
      await host.stop()
    }
  })
}
