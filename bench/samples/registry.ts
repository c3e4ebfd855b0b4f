/**
 * One sample of the registry of functions: lists of ten thousand versions over HTTP, durable jobs on SQLite by the clock,
 * and how long an upload of 50 MB holds the loop of the host.
 */
import { randomFillSync } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { packTar } from 'modern-tar'
import { JobRunner } from '../../src/jobs/job-runner.ts'
import { machineTimers } from '../../src/platform/timers.ts'
import type { FunctionRecord } from '../../src/services/functions/function-record.ts'
import { FunctionStore } from '../../src/services/functions/function-store.ts'
import { openMemoryBlobs } from '../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import { withFolder } from './host/folder.ts'
import { startHostProcess } from './host/host-process.ts'
import { drive, spreadOf } from './host/tasks.ts'

export type RegistrySubject = 'list' | 'list-changing' | 'jobs' | 'upload'

/** What a subject does not measure is NaN. */
export interface RegistrySample {
  readonly perSecond: number
  /** ms of one request; of the upload: until it is answered */
  readonly p50: number
  readonly p99: number
  /** ms for which the loop was held at most */
  readonly held: number
  /** ms of CPU of the host for each */
  readonly cpu: number
}

const VERSIONS = 10_000
const NAMES = 2_000
const TAGS = 40
const LISTS = 300
const JOBS = 10_000
const ADDED_AT_ONCE = 100
const UPLOAD = 50_000_000

export function registrySample(subject: RegistrySubject): Promise<RegistrySample> {
  if (subject === 'jobs') return withFolder(jobs)
  return withFolder(subject === 'upload' ? upload : (folder) => lists(folder, subject === 'list-changing'))
}

async function lists(folder: string, isChanging: boolean): Promise<RegistrySample> {
  await fill(folder)
  const host = await startHostProcess(folder)
  try {
    const connections = await host.connect(1)
    const [connection] = connections
    await connection?.expect(200, 'GET', '/registry/v2/plugs')
    await host.figures()
    const queries = [
      `wql=${encodeURIComponent('tag:like("t1*") AND NOT tag:t3')}`,
      'tags=t7&limit=100',
      'latest=false&status=any&limit=100',
      `wql=${encodeURIComponent('tag:any(t1, t2) OR tag:t9')}&latest=false&limit=100&page=3`,
      'name=*1*&limit=100&showRelated=embed',
    ]
    const times: number[] = []
    const started = performance.now()
    for (let n = 0; n < LISTS; n += 1) {
      if (isChanging) {
        const path = `/registry/v2/plugs/${nameOf(n)}/versions/1.0.0/metadata`
        await connection?.expect(200, 'PATCH', path, JSON.stringify({ description: `changed ${n}` }))
      }
      const before = performance.now()
      await connection?.expect(200, 'GET', `/registry/v2/plugs?${queries[n % queries.length] ?? ''}`)
      times.push(performance.now() - before)
    }
    const wall = performance.now() - started
    const { p50, p99 } = spreadOf(times)
    const { loopMax, cpu } = await host.figures()
    return { perSecond: (LISTS / wall) * 1_000, p50, p99, held: loopMax, cpu: cpu / LISTS }
  } finally {
    await host.stop()
  }
}

async function fill(folder: string): Promise<void> {
  const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  const store = new FunctionStore(storage.tenant('default'))
  const tags = Array.from({ length: TAGS }, (_, i) => store.puttingTag({ name: `t${i}`, color: '#4153ea' }))
  await store.store.commit(tags.flat())
  for (let from = 0; from < VERSIONS; from += 500) {
    const records = Array.from({ length: 500 }, (_, i) => recordOf(from + i))
    await store.store.commit(records.flatMap((record) => store.putting(record, 'absent')))
  }
  await storage.close()
}

function nameOf(n: number): string {
  return `plug${n % NAMES}`
}

function recordOf(n: number): FunctionRecord {
  const version = `1.${Math.floor(n / NAMES)}.0`
  const input = [{ name: 'value', dataType: 'double' as const, mandatory: true }]
  return {
    type: 'plugs',
    name: nameOf(n),
    version,
    // nothing of it is to be run
    status: 'registered',
    draft: n % 11 === 0,
    deprecated: n % 7 === 0,
    manifest: {
      name: nameOf(n),
      version,
      type: 'sensor',
      runtime: 'plug-node24',
      interface: { states: ['Warm', 'Cold'], input },
      metadata: { description: 'Whether a number is above a limit', author: 'anna' },
    },
    tags: [`t${n % TAGS}`, `t${(n * 7) % TAGS}`, `t${(n * 13) % TAGS}`],
    runtimeVersion: '1.0.0',
    assets: ['index.js', 'package.json', 'plug.json'].map((path) => ({ path, size: 400, sha256: 'a'.repeat(64) })),
    revision: 'b'.repeat(64),
    createdBy: 'anna',
    createdAt: n,
    updatedBy: 'anna',
    updatedAt: n,
    updates: [{ operation: 'create', at: n, by: 'anna', comment: '' }],
  }
}

async function jobs(folder: string): Promise<RegistrySample> {
  const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  let done = 0
  let over: () => void = () => undefined
  const all = new Promise<void>((resolve) => (over = resolve))
  const handler = {
    type: 'bench',
    run: () => {
      if (++done === JOBS) over()
      return Promise.resolve({ kind: 'completed', result: {} } as const)
    },
  }
  let id = 0
  const runner = new JobRunner({
    storage,
    handlers: [handler],
    now: Date.now,
    newId: () => `job-${++id}`,
    timers: machineTimers,
  })
  try {
    await runner.start()
    const queue = runner.queue('default')
    const before = process.cpuUsage()
    const started = performance.now()
    for (let n = 0; n < JOBS; n += ADDED_AT_ONCE) {
      await Promise.all(Array.from({ length: ADDED_AT_ONCE }, () => queue.add({ type: 'bench' })))
    }
    await all
    // the last ones are over when their ends are stored
    while ((await queue.counts()).get('completed') !== JOBS) await machineTimers.breathe()
    const { user, system } = process.cpuUsage(before)
    const perSecond = (JOBS / (performance.now() - started)) * 1_000
    return { perSecond, p50: Number.NaN, p99: Number.NaN, held: Number.NaN, cpu: (user + system) / 1_000 / JOBS }
  } finally {
    await runner.stop()
    await storage.close()
  }
}

async function upload(folder: string): Promise<RegistrySample> {
  const manifest = { name: 'large', version: '1.0.0', runtime: 'byoml-sklearn' }
  const model = randomFillSync(Buffer.alloc(UPLOAD))
  const files = { 'model.json': Buffer.from(JSON.stringify(manifest)), 'model.joblib': model }
  const tar = await packTar(
    Object.entries(files).map(([name, body]) => ({ header: { name, size: body.length, type: 'file' as const }, body })),
  )
  const host = await startHostProcess(folder)
  try {
    const connections = await host.connect(1)
    await host.figures()
    const { times } = await drive(
      connections,
      (n) => n < 1,
      (connection) => connection.expect(201, 'POST', '/registry/v2/models?deploy=false', tar),
    )
    const [took = Number.NaN] = times
    const { loopMax, cpu } = await host.figures()
    return { perSecond: Number.NaN, p50: took, p99: Number.NaN, held: loopMax, cpu }
  } finally {
    await host.stop()
  }
}
