/** Sample of the function registry: lists of ten thousand versions over HTTP. */
import type { FunctionRecord } from '../../src/services/functions/function-record.ts'
import { FunctionStore } from '../../src/services/functions/function-store.ts'
import { openMemoryBlobs } from '../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import { drive, sampleOf, type CallsSample } from './calls.ts'
import { withFolder } from './host/folder.ts'
import { startHostProcess } from './host/host-process.ts'

export interface RegistrySample extends CallsSample {
  /** longest block of the loop in ms */
  readonly held: number
  /** ms of CPU of the host per list */
  readonly cpu: number
}

const NAMES = 2_000
const TAGS = 40
const LISTS = 300

export function registrySample({ versions }: { versions: number }): Promise<RegistrySample> {
  return withFolder(async (folder) => {
    await fill(folder, versions)
    const host = await startHostProcess(folder)
    try {
      const connections = await host.connect(1)
      await connections[0]?.expect(200, 'GET', '/registry/v2/plugs')
      await host.figures()
      const queries = [
        `wql=${encodeURIComponent('tag:like("t1*") AND NOT tag:t3')}`,
        'tags=t7&limit=100',
        'latest=false&status=any&limit=100',
        `wql=${encodeURIComponent('tag:any(t1, t2) OR tag:t9')}&latest=false&limit=100&page=3`,
        'name=*1*&limit=100&showRelated=embed',
      ]
      const calls = await drive(
        connections,
        (n) => n < LISTS,
        (connection, n) => connection.expect(200, 'GET', `/registry/v2/plugs?${queries[n % queries.length] ?? ''}`),
      )
      const { loopMax, cpu } = await host.figures()
      return { ...sampleOf(calls), held: loopMax, cpu: cpu / LISTS }
    } finally {
      await host.stop()
    }
  })
}

async function fill(folder: string, versions: number): Promise<void> {
  const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  const store = new FunctionStore(storage.tenant('default'))
  const tags = Array.from({ length: TAGS }, (_, i) => store.puttingTag({ name: `t${i}`, color: '#4153ea' }))
  await store.store.commit(tags.flat())
  for (let from = 0; from < versions; from += 500) {
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
    // never executed
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
