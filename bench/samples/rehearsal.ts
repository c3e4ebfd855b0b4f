/** Sample of rehearsals on a host on SQLite: a month of stored series at one a minute, and the state at an instant. */
import { openMemoryBlobs } from '../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import type { Connection } from './host/connection.ts'
import { withFolder } from './host/folder.ts'
import { type HostProcess, startHostProcess } from './host/host-process.ts'

/** `month`: one resource; `sweep`: the same with ten values; `fleet`: many resources; `state`: `state?at=` of a task */
export type RehearsalSubject = 'month' | 'sweep' | 'fleet' | 'state'

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
}

const MINUTE = 60_000
const MONTH = 43_200
const VALUES = 10
const FLEET = 40
const INPUTS = 10_000
const AT_ONCE = 64
const PER_APPEND = 10_000
const WAIT_MS = 50

const RULE = {
  sensors: [
    { label: 'hot', name: 'hysteresis', resource: '$', properties: { value: 'temperature', enter: 97, leave: 90 } },
  ],
  actuators: [{ label: 'alarm', name: 'createAlarm', properties: { type: 'HOT', text: '{{hot.value}} degrees' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', begins: ['On'] }],
}

export function rehearsalSample({ subject }: { subject: RehearsalSubject }): Promise<RehearsalSample> {
  return withFolder(async (folder) => {
    const resources = subject === 'state' ? 0 : subject === 'fleet' ? FLEET : 1
    const now = Math.floor(Date.now() / MINUTE) * MINUTE
    await fill(folder, resources, now - MONTH * MINUTE)
    const host = await startHostProcess(folder)
    try {
      const connections = await host.connect(AT_ONCE)
      const [connection] = connections
      if (connection === undefined) throw new Error('at least one connection is required')
      if (subject === 'state') return await stateSample(host, connections)
      const ask = (ids: readonly string[], more: object, from: string) =>
        rehearsed(connection, { rule: RULE, resources: ids, source: { from }, ...more })
      // the first rehearsal loads the thread and the code
      await ask([idOf(0)], {}, '-1h')
      await host.figures()
      const start = performance.now()
      const more = subject === 'sweep' ? { sweep: { 'hot.enter': `91..${90 + VALUES}/1` } } : {}
      const ids = Array.from({ length: resources }, (_, n) => idOf(n))
      const messages = await ask(ids, more, '-31d')
      const ms = performance.now() - start
      if (messages !== resources * MONTH) throw new Error(`${messages} of ${resources * MONTH} messages were rehearsed`)
      const { cpu, loopP99, rss } = await host.figures()
      return { ms, messages: messages * (subject === 'sweep' ? VALUES + 1 : 1), cpu, held: loopP99, rss }
    } finally {
      await host.stop()
    }
  })
}

async function fill(folder: string, resources: number, from: number): Promise<void> {
  const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  const { series } = storage.tenant('default')
  for (let n = 0; n < resources; n++) {
    for (let first = 0; first < MONTH; first += PER_APPEND) {
      const length = Math.min(PER_APPEND, MONTH - first)
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

async function rehearsed(connection: Connection, request: object): Promise<number> {
  const { body } = await connection.ask('POST', '/api/rehearsals', JSON.stringify(request))
  let answer = JSON.parse(body) as { id: string; status?: string; coverage?: { messages: number } }
  while (answer.coverage === undefined) {
    if (answer.status !== undefined && answer.status !== 'running') throw new Error(`the rehearsal: ${body}`)
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
    answer = JSON.parse(await connection.expect(200, 'GET', `/api/rehearsals/${answer.id}`)) as typeof answer
  }
  return answer.coverage.messages
}

async function stateSample(host: HostProcess, connections: readonly Connection[]): Promise<RehearsalSample> {
  const [connection] = connections
  const task = { ...RULE, task: { name: 'hot', resource: idOf(0), start: true } }
  const created = await connection?.expect(201, 'POST', '/api/tasks', JSON.stringify(task))
  const { ID } = JSON.parse(created ?? '{}') as { ID: string }
  let posted = 0
  await Promise.all(
    connections.map(async (one) => {
      while (posted < INPUTS) {
        const body = JSON.stringify({ temperature: 70 + (posted++ % 31), humidity: 60, pressure: 1.5 })
        const { status } = await one.ask('POST', `/resources/${idOf(0)}/events`, body)
        if (status >= 300) throw new Error(`a post was answered ${status}`)
      }
    }),
  )
  const state = `/api/tasks/${ID}/state`
  const { at } = JSON.parse((await connection?.expect(200, 'GET', state)) ?? '{}') as { at: number }
  // the first one loads the code, while series and kept inputs follow the log
  await connection?.expect(200, 'GET', `${state}?at=${at}`)
  await host.figures()
  const start = performance.now()
  await connection?.expect(200, 'GET', `${state}?at=${at}`)
  const ms = performance.now() - start
  const { cpu, loopP99, rss } = await host.figures()
  return { ms, messages: INPUTS, cpu, held: loopP99, rss }
}
