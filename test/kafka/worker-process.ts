/** Worker processes, a producer and a reader for tests with a broker. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Admin, murmur2, ProduceAcks, Producer, stringSerializers } from '@platformatic/kafka'
import { committedRecords } from '../../src/kafka/client/committed-records.ts'
import { fetchRecords } from '../../src/kafka/client/raw-requests.ts'
import type { LogRecord } from '../../src/kafka/log.ts'
import type { Rule } from '../../src/core/index.ts'
import { freePort } from '../support/free-port.ts'
import { root } from '../support/repository.ts'

export interface WorkerProcess {
  readonly name: string
  readonly url: string
  readonly output: () => string
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): void
  get(path: string): Promise<{ readonly status: number; readonly body: unknown }>
  /** Resolves when the process has ended. */
  readonly ended: Promise<number | null>
}

export function rulesFolder(rules: Readonly<Record<string, Rule>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'rules-'))
  for (const [name, rule] of Object.entries(rules)) writeFileSync(join(folder, `${name}.json`), JSON.stringify(rule))
  return folder
}

export async function startWorkerProcess(
  broker: string,
  name: string,
  flags: readonly string[],
): Promise<WorkerProcess> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const args = ['src/cli/main.ts', 'worker', '--brokers', broker, '--name', name, '--port', String(port), ...flags]
  const child: ChildProcess = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data: Buffer) => {
      lines.push(data.toString())
      if (process.env['SHOW'] !== undefined) process.stderr.write(`${name}: ${data.toString()}`)
    })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  process.once('exit', () => child.kill('SIGKILL'))
  return {
    name,
    url,
    output: () => lines.join(''),
    signal: (signal) => void child.kill(signal),
    ended,
    get: async (path) => {
      const response = await fetch(url + path, { signal: AbortSignal.timeout(5_000) })
      const text = await response.text()
      return { status: response.status, body: path === '/metrics' ? text : JSON.parse(text) }
    },
  }
}

export interface Health {
  readonly partitions: readonly {
    readonly partition: number
    readonly lag: number
    readonly isReplaying: boolean
    readonly tasks: number
  }[]
}

/** Returns partitions by worker, of those that answer. */
export async function owners(workers: readonly WorkerProcess[]): Promise<ReadonlyMap<string, readonly number[]>> {
  const found = new Map<string, readonly number[]>()
  for (const worker of workers) {
    const health = await worker.get('/health').catch(() => undefined)
    if (health !== undefined)
      found.set(
        worker.name,
        (health.body as Health).partitions.map(({ partition }) => partition),
      )
  }
  return found
}

/** Waits until the workers own so many partitions and run so many tasks together, and nothing waits. */
export async function settled(
  workers: readonly WorkerProcess[],
  partitions: number,
  tasks: number,
  limitMs = 120_000,
): Promise<void> {
  const until = Date.now() + limitMs
  for (let quiet = 0; quiet < 3;) {
    const all: Health['partitions'][number][] = []
    let answered = 0
    for (const worker of workers) {
      const health = await worker.get('/health').catch(() => undefined)
      if (health?.status !== 200) continue
      answered++
      all.push(...(health.body as Health).partitions)
    }
    const isAll = answered === workers.length && new Set(all.map(({ partition }) => partition)).size === partitions
    const running = all.reduce((sum, one) => sum + one.tasks, 0)
    const isDone = isAll && running >= tasks && all.every(({ lag, isReplaying }) => lag === 0 && !isReplaying)
    quiet = isDone ? quiet + 1 : 0
    if (Date.now() > until)
      throw new Error(
        `not settled: ${JSON.stringify(all)}\n${workers.map((one) => one.output().slice(-1_500)).join('\n---\n')}`,
      )
    await pause(200)
  }
}

export class TestTopics {
  readonly #admin: Admin
  readonly #producer: Producer<string, string, string, string>

  constructor(broker: string) {
    const base = { clientId: 'tests', bootstrapBrokers: [broker], retries: 30 }
    this.#admin = new Admin(base)
    const settings = { serializers: stringSerializers, idempotent: true, acks: ProduceAcks.ALL }
    this.#producer = new Producer({
      ...base,
      ...settings,
      partitioner: (_, key) => murmur2(key ?? Buffer.alloc(0)) & 0x7fff_ffff,
    })
  }

  async send(topic: string, records: readonly { readonly key: string; readonly value: string }[]): Promise<void> {
    await this.#producer.send({ messages: records.map(({ key, value }) => ({ topic, key, value })) })
  }

  /** Reads all committed records of a topic, by partition. */
  async read(topic: string): Promise<readonly (readonly LogRecord[])[]> {
    const metadata = await this.#admin.metadata({ topics: [topic], forceUpdate: true })
    const { id = '', partitions = [] } = metadata.topics.get(topic) ?? {}
    const lists: LogRecord[][] = []
    for (const [partition, { leader }] of partitions.entries()) {
      const records: LogRecord[] = []
      const broker = metadata.brokers.get(leader)
      if (broker === undefined) throw new Error(`no leader of ${topic}`)
      for (let next = 0, end = 1; next < end;) {
        const response = await fetchRecords(this.#admin, broker, id, [{ partition, from: next }], 100)
        for (const one of response.responses[0]?.partitions ?? []) {
          const batch = committedRecords(one, next)
          records.push(...batch.records)
          next = batch.next
          end = batch.end
        }
      }
      lists.push(records)
    }
    return lists
  }

  async deleteTopic(topic: string): Promise<void> {
    await this.#admin.deleteTopics({ topics: [topic] })
  }

  async createTopic(topic: string, partitions: number): Promise<void> {
    await this.#admin.createTopics({ topics: [topic], partitions, replicas: 1 })
  }

  async close(): Promise<void> {
    await this.#producer.close()
    await this.#admin.close()
  }
}
