/** Sample of rehearsals on a host on SQLite, of the state at an instant, and of what both cost the posts. */
import { openMemoryBlobs } from '../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import type { Connection } from './host/connection.ts'
import { withFolder } from './host/folder.ts'
import { type HostProcess, startHostProcess } from './host/host-process.ts'

/**
 * `month`: one resource; `sweep`: the same with ten values; `fleet`: many resources; `many`: 1,000 resources for three
 * days; `kept`: one resource over kept inputs; `state`: `state?at=` of a task; `beside`: posts during a rehearsal;
 * `keeping`: posts that are kept
 */
export type RehearsalSubject = 'month' | 'sweep' | 'fleet' | 'many' | 'kept' | 'state' | 'beside' | 'keeping'

export interface RehearsalSample {
  /** ms until the result */
  readonly ms: number
  /** messages, times rules that took each */
  readonly messages: number
  /** ms of CPU of the host */
  readonly cpu: number
  /** ms for which the loop of the host was held, 99 of 100 times less */
  readonly held: number
  readonly rss: number
  /** `beside`: p99 of posts during the rehearsal; `keeping`: CPU of a post that is kept; each per that without */
  readonly times: number
}

const MINUTE = 60_000
const MONTH = 43_200
const VALUES = 10
const FLEET = 40
const MANY = 1_000
const DAYS = 3
const INPUTS = 10_000
const AT_ONCE = 64
const PER_APPEND = 10_000
const WAIT_MS = 50
const POSTS_MS = 5_000
const POSTS = 20_000
const ROUNDS = 4
/** more than the time between two rounds of a keeper */
const KEPT_MS = 6_000

const RULE = {
  sensors: [
    { label: 'hot', name: 'hysteresis', resource: '$', properties: { value: 'temperature', enter: 97, leave: 90 } },
  ],
  actuators: [{ label: 'alarm', name: 'createAlarm', properties: { type: 'HOT', text: '{{hot.value}} degrees' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', begins: ['On'] }],
}

interface Stored {
  readonly resources: number
  /** of each resource, one a minute until now */
  readonly messages: number
}

const STORED: Readonly<Record<RehearsalSubject, Stored>> = {
  month: { resources: 1, messages: MONTH },
  sweep: { resources: 1, messages: MONTH },
  fleet: { resources: FLEET, messages: MONTH },
  many: { resources: MANY, messages: DAYS * 1_440 },
  beside: { resources: FLEET, messages: MONTH },
  kept: { resources: 0, messages: 0 },
  state: { resources: 0, messages: 0 },
  keeping: { resources: 0, messages: 0 },
}

export function rehearsalSample({ subject }: { subject: RehearsalSubject }): Promise<RehearsalSample> {
  if (subject === 'keeping') return keepingSample()
  return withFolder(async (folder) => {
    const stored = STORED[subject]
    const now = Math.floor(Date.now() / MINUTE) * MINUTE
    await fill(folder, stored, now - stored.messages * MINUTE)
    const host = await startHostProcess(folder)
    try {
      const connections = await host.connect(AT_ONCE)
      const [connection] = connections
      if (connection === undefined) throw new Error('at least one connection is required')
      if (subject === 'state') return await stateSample(host, connections)
      if (subject === 'kept') await postAll(connections, MONTH)
      const ids = Array.from({ length: Math.max(1, stored.resources) }, (_, n) => idOf(n))
      const ask = (asked: readonly string[], more: object, from: string) =>
        rehearsed(connection, { rule: RULE, resources: asked, source: { from }, ...more })
      // the first rehearsal loads the thread and the code
      await ask([idOf(0)], {}, subject === 'kept' ? '-31d' : '-1h')
      await host.figures()
      if (subject === 'beside') return await besideSample(host, connections, () => ask(ids, {}, '-31d'))
      const start = performance.now()
      const more = subject === 'sweep' ? { sweep: { 'hot.enter': `91..${90 + VALUES}/1` } } : {}
      const { messages, fidelity } = await ask(ids, more, '-31d')
      const ms = performance.now() - start
      const wanted = subject === 'kept' ? MONTH : stored.resources * stored.messages
      if (messages !== wanted || (subject === 'kept') !== (fidelity === 'inputs'))
        throw new Error(`${messages} of ${wanted} messages were rehearsed, from ${fidelity}`)
      const { cpu, loopP99, rss } = await host.figures()
      const rules = subject === 'sweep' ? VALUES + 1 : 1
      return { ms, messages: messages * rules, cpu, held: loopP99, rss, times: Number.NaN }
    } finally {
      await host.stop()
    }
  })
}

async function fill(folder: string, { resources, messages }: Stored, from: number): Promise<void> {
  const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  const { series } = storage.tenant('default')
  for (let n = 0; n < resources; n++) {
    for (let first = 0; first < messages; first += PER_APPEND) {
      const length = Math.min(PER_APPEND, messages - first)
      const samples = Array.from({ length }, (_, i) => {
        const place = first + i
        const value = 80 + 18 * Math.sin(place / 97) + ((place * 7) % 11) / 5
        return { resource: idOf(n), metric: 'temperature', time: from + place * MINUTE, value }
      })
      await series.append({ samples })
    }
  }
  await storage.close()
}

function idOf(n: number): string {
  return `boiler-${n}`
}

interface Result {
  readonly messages: number
  readonly fidelity: string
}

async function rehearsed(connection: Connection, request: object): Promise<Result> {
  const { body } = await connection.ask('POST', '/api/rehearsals', JSON.stringify(request))
  let answer = JSON.parse(body) as { id: string; status?: string; fidelity?: string; coverage?: { messages: number } }
  while (answer.coverage === undefined) {
    if (answer.status !== undefined && answer.status !== 'running') throw new Error(`the rehearsal: ${body}`)
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
    answer = JSON.parse(await connection.expect(200, 'GET', `/api/rehearsals/${answer.id}`)) as typeof answer
  }
  return { messages: answer.coverage.messages, fidelity: answer.fidelity ?? '' }
}

async function postOne(connection: Connection, number: number): Promise<void> {
  const body = JSON.stringify({ temperature: 70 + (number % 31), humidity: 60, pressure: 1.5 })
  const { status } = await connection.ask('POST', `/resources/${idOf(0)}/events`, body)
  if (status >= 300) throw new Error(`a post was answered ${status}`)
}

async function postAll(connections: readonly Connection[], count: number): Promise<void> {
  let posted = 0
  await Promise.all(
    connections.map(async (one) => {
      while (posted < count) await postOne(one, posted++)
    }),
  )
}

/** Posts one after the other on each connection. Returns the p99 in ms. */
async function postsUntil(connections: readonly Connection[], isOver: () => boolean): Promise<number> {
  const took: number[] = []
  await Promise.all(
    connections.map(async (one) => {
      while (!isOver()) {
        const start = performance.now()
        await postOne(one, took.length)
        took.push(performance.now() - start)
      }
    }),
  )
  return took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? Number.NaN
}

async function besideSample(
  host: HostProcess,
  connections: readonly Connection[],
  rehearse: () => Promise<Result>,
): Promise<RehearsalSample> {
  // the first one belongs to the rehearsal
  const posting = connections.slice(1, 5)
  const forMs = (ms: number) => {
    const end = performance.now() + ms
    return () => performance.now() >= end
  }
  await postsUntil(posting, forMs(POSTS_MS))
  const alone = await postsUntil(posting, forMs(POSTS_MS))
  await host.figures()
  const start = performance.now()
  let isDone = false
  const [{ messages }, beside] = await Promise.all([
    rehearse().finally(() => (isDone = true)),
    postsUntil(posting, () => isDone),
  ])
  const { cpu, loopP99, rss } = await host.figures()
  return { ms: performance.now() - start, messages, cpu, held: loopP99, rss, times: beside / alone }
}

/** Posts to two hosts in turn, of which one keeps inputs. */
function keepingSample(): Promise<RehearsalSample> {
  return withFolder((kept) =>
    withFolder(async (unkept) => {
      const hosts = [await startHostProcess(kept), await startHostProcess(unkept, ['--keep-inputs', '0'])]
      try {
        const connected: (readonly Connection[])[] = []
        for (const host of hosts) {
          const connections = await host.connect(AT_ONCE)
          const task = { ...RULE, task: { name: 'hot', resource: idOf(0), start: true } }
          await connections[0]?.expect(201, 'POST', '/api/tasks', JSON.stringify(task))
          await postAll(connections, POSTS)
          await host.figures()
          connected.push(connections)
        }
        const start = performance.now()
        for (let round = 0; round < ROUNDS; round++)
          for (const connections of connected) await postAll(connections, POSTS)
        const ms = performance.now() - start
        await new Promise((resolve) => setTimeout(resolve, KEPT_MS))
        const [own, other] = [await hosts[0]?.figures(), await hosts[1]?.figures()]
        if (own === undefined || other === undefined) throw new Error('a host is missing')
        const { cpu, loopP99, rss } = own
        return { ms, messages: ROUNDS * POSTS, cpu, held: loopP99, rss, times: cpu / other.cpu }
      } finally {
        for (const host of hosts) await host.stop()
      }
    }),
  )
}

async function stateSample(host: HostProcess, connections: readonly Connection[]): Promise<RehearsalSample> {
  const [connection] = connections
  const task = { ...RULE, task: { name: 'hot', resource: idOf(0), start: true } }
  const created = await connection?.expect(201, 'POST', '/api/tasks', JSON.stringify(task))
  const { ID } = JSON.parse(created ?? '{}') as { ID: string }
  await postAll(connections, INPUTS)
  const state = `/api/tasks/${ID}/state`
  const { at } = JSON.parse((await connection?.expect(200, 'GET', state)) ?? '{}') as { at: number }
  // the first one loads the code, while series and kept inputs follow the log
  await connection?.expect(200, 'GET', `${state}?at=${at}`)
  await host.figures()
  const start = performance.now()
  await connection?.expect(200, 'GET', `${state}?at=${at}`)
  const ms = performance.now() - start
  const { cpu, loopP99, rss } = await host.figures()
  return { ms, messages: INPUTS, cpu, held: loopP99, rss, times: Number.NaN }
}
