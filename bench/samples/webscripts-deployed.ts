/**
 * One sample: what a host and the processes of its webscripts hold when ten of those that are deployed are called. Linux
 * only. Needs `--expose-gc`.
 */
import { readFileSync } from 'node:fs'
import { createClient } from '../../src/client.ts'
import { readConfig } from '../../src/host/config.ts'
import { startHost } from '../../src/host/running-host.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { FunctionStore } from '../../src/services/functions/function-store.ts'
import { openMemoryBlobs } from '../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import { childrenOf, descendantsOf } from './child-processes.ts'
import { withFolder } from './host/folder.ts'
import { heapUsed } from './spent.ts'

export type WebscriptsDeployedSubject = 'ten' | 'thousand'

/** Bytes. */
export interface WebscriptsDeployedSample {
  /** of the host after a full collection, before the first call */
  readonly heapBefore: number
  /** the same after the calls */
  readonly heap: number
  readonly processes: number
  /** of all processes of webscripts, what they share counted once */
  readonly processMemory: number
}

const CALLED = 10
const DEPLOYED: Readonly<Record<WebscriptsDeployedSubject, number>> = { ten: 10, thousand: 1_000 }
const CREDENTIALS = { key: 'bench', secret: 'bench' }
const FILES = {
  'webscript.json': '{"name":"script0","version":"1.0.0","runtime":"web-node24","private":false}',
  'package.json': '{"type":"module"}',
  'index.js': 'export default (req, res) => res.json({ hello: req.query.name })',
}

export function webscriptsDeployedSample(subject: WebscriptsDeployedSubject): Promise<WebscriptsDeployedSample> {
  return withFolder(async (folder) => {
    await withHost(folder, deployOne)
    await copyRecord(folder, DEPLOYED[subject])
    return withHost(folder, measure)
  })
}

async function withHost<T>(folder: string, work: (url: string) => Promise<T>): Promise<T> {
  const given = { port: 0, data: folder, ...CREDENTIALS, empty: true, logLevel: 'silent', rateLimit: 0 }
  const host = await startHost(readConfig(given, {}, [...SERVICES.keys()]), { write: () => undefined }, { hashCost: 2 })
  try {
    return await work(host.url)
  } finally {
    await host.stop()
  }
}

async function deployOne(url: string): Promise<void> {
  const { webscripts } = createClient({ url, credentials: CREDENTIALS }).functions
  const assets = new Map(Object.entries(FILES).map(([path, text]) => [path, new TextEncoder().encode(text)]))
  const { job } = await webscripts.create(assets)
  await webscripts.jobs.finished(job?.id ?? '')
}

/** What a deployment leaves: each by itself would take as long as a process takes to start. */
async function copyRecord(folder: string, count: number): Promise<void> {
  const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  const store = new FunctionStore(storage.tenant('default'))
  const record = await store.get({ type: 'webscripts', name: 'script0', version: '1.0.0' })
  if (record.status !== 'running') throw new Error(`it is ${record.status}: ${record.failure?.reason ?? ''}`)
  for (let n = 1; n < count; n += 1) {
    const name = `script${n}`
    await store.store.commit(store.putting({ ...record, name, manifest: { ...record.manifest, name } }, 'absent'))
  }
  await storage.close()
}

async function measure(url: string): Promise<WebscriptsDeployedSample> {
  const heapBefore = heapUsed()
  for (let n = 0; n < CALLED; n += 1) {
    const { status } = await fetch(`${url}/api/v1/default/script${n}?name=you`)
    if (status !== 200) throw new Error(`script${n} answered ${status}`)
  }
  const pids = childrenOf(process.pid)
  return {
    heapBefore,
    heap: heapUsed(),
    processes: pids.length,
    processMemory: pids.flatMap((pid) => [pid, ...descendantsOf(pid)]).reduce((sum, pid) => sum + sharesOf(pid), 0),
  }
}

/** Its own memory, and its share of what it has with others. */
function sharesOf(pid: number): number {
  const [, kib = '0'] = /^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')) ?? []
  return Number(kib) * 1_024
}
