/** One sample: contents over HTTP beside a bare fastify route on the same disk, signatures, and pages of a large bucket. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { Transform } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { fastify, type FastifyRequest } from 'fastify'
import { createClient } from '../../src/client.ts'
import { readConfig } from '../../src/host/config.ts'
import { startHost } from '../../src/host/running-host.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import type { Storage } from '../../src/storage/contract.ts'
import { entryId, openTable, puttingFolders } from '../../src/services/objects/object-table.ts'
import { BlobContents } from '../../src/services/objects/contents/blob-contents.ts'
import { createObjectsService } from '../../src/services/objects/service.ts'
import { signedAddress } from '../../src/services/objects/signing/sign-address.ts'
import { SigningKeys } from '../../src/services/objects/signing/signing-keys.ts'
import { verifyAddress } from '../../src/services/objects/signing/verify-address.ts'
import { openFiles } from '../../src/storage/files/open-files.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'

export type ObjectsSubject =
  'bare-download' | 'download' | 'bare-upload' | 'upload' | 'signatures' | 'pages' | 'folder-pages'

export interface ObjectsSample {
  /** bytes, signatures or pages */
  readonly perSecond: number
  /** of one of them, ms */
  readonly p50: number
  readonly p99: number
  /** bytes that the host's process has more than before, at most */
  readonly memory: number
}

const BYTES = 100_000_000
const TIMES = 8
const SIGNATURES = 20_000
const OBJECTS = 200_000
const FOLDERS = 400
const PAGES = 400
const TENANT = 'default'

export async function objectsSample(subject: ObjectsSubject): Promise<ObjectsSample> {
  if (subject === 'signatures') return signatures()
  const folder = mkdtempSync(join(tmpdir(), 'reflexarc-bench-'))
  try {
    if (subject === 'pages' || subject === 'folder-pages') return await pages(folder, subject === 'folder-pages')
    return subject.startsWith('bare') ? await bare(folder, subject) : await ofHost(folder, subject)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function bare(folder: string, subject: ObjectsSubject): Promise<ObjectsSample> {
  const file = join(folder, 'content')
  writeFileSync(file, Buffer.alloc(BYTES, 'x'))
  const app = fastify()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload))
  app.get('/content', (_request, reply) => reply.header('content-length', BYTES).send(createReadStream(file)))
  app.put('/content', (request) => hashedToFile(request, join(folder, 'written')))
  await app.listen({ port: 0, host: '127.0.0.1' })
  try {
    const { port } = app.server.address() as AddressInfo
    return await moved(subject === 'bare-upload' ? 'PUT' : 'GET', `http://127.0.0.1:${port}/content`)
  } finally {
    app.server.closeAllConnections()
    await app.close()
  }
}

async function hashedToFile({ raw }: FastifyRequest, file: string): Promise<string> {
  const hash = createHash('md5')
  const hashed = new Transform({
    transform: (piece: Buffer, _encoding, done) => {
      hash.update(piece)
      done(null, piece)
    },
  })
  await pipeline(raw, hashed, createWriteStream(file))
  return hash.digest('hex')
}

async function ofHost(folder: string, subject: ObjectsSubject): Promise<ObjectsSample> {
  const credentials = { key: 'bench', secret: 'bench' }
  const given = {
    data: folder,
    port: 0,
    ...credentials,
    empty: true,
    logLevel: 'silent',
    rateLimit: 0,
    only: 'objects',
  }
  const host = await startHost(readConfig(given, {}, [...SERVICES.keys()]), { write: () => undefined }, { hashCost: 2 })
  try {
    const { objects } = createClient({ url: host.url, credentials })
    await objects.put('assets', 'content', Buffer.alloc(BYTES, 'x'))
    const method = subject === 'upload' ? 'PUT' : 'GET'
    return await moved(method, (await objects.sign('assets', 'content', method)).href)
  } finally {
    await host.stop()
  }
}

async function moved(method: string, url: string): Promise<ObjectsSample> {
  const before = process.memoryUsage().rss
  let most = before
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20)
  const args = [join(import.meta.dirname, 'objects-client.ts'), method, url, String(BYTES), String(TIMES)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ms = JSON.parse(await text(child.stdout)) as readonly number[]
  clearInterval(watch)
  return { ...figuresOf(ms, BYTES), memory: most - before }
}

function signatures(): ObjectsSample {
  const keys = new SigningKeys(new Uint8Array(32).fill(1))
  const key = {
    ...keys.of({ tenant: TENANT, bucket: 'assets', rights: ['read'] }),
    date: '20260101',
    region: 'us-east-1',
  }
  const now = Date.UTC(2026, 0, 1)
  const origin = 'http://127.0.0.1:8080'
  const order = { method: 'GET', origin, bucket: 'b', time: '20260101T000000Z', expiry: 300, key } as const
  const sent = Array.from({ length: SIGNATURES }, (_, i) => {
    const { pathname, search } = new URL(signedAddress({ ...order, path: `some folder/object ${i}.txt` }))
    return { method: 'GET', path: pathname, query: search.slice(1), headers: [], host: '127.0.0.1:8080' }
  })
  const ms = sent.map((request) => {
    const before = performance.now()
    verifyAddress(keys, request, now)
    return performance.now() - before
  })
  return { ...figuresOf(ms.slice(1_000), 1), memory: 0 }
}

async function pages(folder: string, isOfFolders: boolean): Promise<ObjectsSample> {
  const storage = await openSqlite({ folder, blobs: await openFiles({ folder: join(folder, 'blobs') }) })
  const contents = new BlobContents(storage)
  const service = createObjectsService({
    storage,
    contents,
    keys: new SigningKeys(new Uint8Array(32)),
    now: Date.now,
    newId: () => crypto.randomUUID(),
    later: () => () => undefined,
    logger: { warn: () => undefined, error: () => undefined },
    origin: () => 'http://127.0.0.1',
  })
  try {
    const api = service.as({ tenant: TENANT, user: 'bench' })
    const pathOf = (i: number) => `f${String(i % FOLDERS).padStart(3, '0')}/object-${i}`
    await fill(storage, pathOf)
    const ms: number[] = []
    for (let page = -20; page < PAGES; page++) {
      const startAfter = isOfFolders ? `f${String((page + 20) % 200).padStart(3, '0')}/` : pathOf((page + 20) * 7_919)
      const before = performance.now()
      const { entries } = await api.list('assets', '', { startAfter, recursive: !isOfFolders })
      if (entries.length < 199) throw new Error(`a page of ${entries.length}`)
      if (page >= 0) ms.push(performance.now() - before)
    }
    return { ...figuresOf(ms, 1), memory: 0 }
  } finally {
    await service.stop()
    await storage.close()
  }
}

/** As uploads would, a thousand in a commit. */
async function fill(storage: Storage, pathOf: (i: number) => string): Promise<void> {
  const table = openTable(storage, TENANT)
  const about = { bucket: 'assets', etag: 'd41d8cd98f00b204e9800998ecf8427e', size: 0, contentType: 'text/plain' }
  for (let at = 0; at < OBJECTS; at += 1_000) {
    const paths = Array.from({ length: 1_000 }, (_, i) => pathOf(at + i))
    const folders = at === 0 ? paths.slice(0, FOLDERS) : []
    await table.store.commit([
      ...paths.map((path) =>
        table.entries.putting(entryId('assets', path), { ...about, path, modified: at, content: path }),
      ),
      ...folders.flatMap((path) => puttingFolders(table, 'assets', path)),
    ])
  }
}

/** `amount`: of one run */
function figuresOf(ms: readonly number[], amount: number): Omit<ObjectsSample, 'memory'> {
  const sorted = [...ms].sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  const sum = sorted.reduce((total, one) => total + one, 0)
  return { perSecond: (amount * 1_000 * sorted.length) / sum, p50: at(0.5), p99: at(0.99) }
}
