/** Provides an objects service over a store in memory, with a stopped clock and ids that count up. */
import { Objects } from '../../../src/services/objects/service.ts'
import { BlobContents } from '../../../src/services/objects/contents/blob-contents.ts'
import type { ContentStore, ObjectChange, ObjectsApi } from '../../../src/services/objects/contract.ts'
import { SigningKeys } from '../../../src/services/objects/signing/signing-keys.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'

export const START = Date.UTC(2026, 0, 1)
export const ORIGIN = 'http://host.test:8080'
export const TENANT = 'acme'
export const MASTER = new Uint8Array(32).fill(7)

export interface ObjectsWorld {
  readonly storage: Storage
  readonly service: Objects
  /** API of a user of tenant acme */
  readonly api: ObjectsApi
  readonly clock: { now: number }
  /** Work for which the service set timers */
  readonly waiting: (() => void)[]
  readonly warnings: string[]
  /** Returns the ids of the existing contents */
  contents(): Promise<readonly string[]>
  changes(): Promise<readonly ObjectChange[]>
}

export interface WorldOptions {
  readonly storage?: Storage
  readonly tenant?: string
  /** Wraps the store of contents */
  readonly contents?: (own: ContentStore) => ContentStore
}

/** Never repeated, across all worlds of a storage */
let ids = 0

export async function objectsWorld({
  storage = openMemory(),
  tenant = TENANT,
  contents = (own) => own,
}: WorldOptions = {}): Promise<ObjectsWorld> {
  const clock = { now: START }
  const waiting: (() => void)[] = []
  const warnings: string[] = []
  const store = storage.tenant(tenant)
  const service = new Objects({
    tenant,
    store,
    contents: contents(new BlobContents(store.blobs)),
    keys: new SigningKeys(MASTER),
    now: () => clock.now,
    newId: () => `content-${(ids += 1)}`,
    later: (_ms, work) => {
      waiting.push(work)
      return () => void waiting.splice(waiting.indexOf(work), 1)
    },
    logger: { warn: (message) => void warnings.push(message), error: (message) => void warnings.push(message) },
    origin: () => ORIGIN,
  })
  await service.start()
  return {
    storage,
    service,
    api: service.as({ tenant, user: 'users/1' }),
    clock,
    waiting,
    warnings,
    contents: async () => (await store.blobs.list({ prefix: 'contents/' })).map(({ path }) => path.slice(9)),
    changes: () => service.changes.read(0),
  }
}

/** Returns a store of contents with some methods replaced. */
export const otherwise = (own: ContentStore, changes: Partial<ContentStore>): ContentStore => ({
  shown: own.shown,
  put: (...given) => own.put(...given),
  open: (...given) => own.open(...given),
  copy: (...given) => own.copy(...given),
  remove: (...given) => own.remove(...given),
  ...changes,
})

export const bytes = (text: string) => new TextEncoder().encode(text)

export async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of content) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

/** Puts an object for each path, with the path as its content. */
export async function putAll(api: ObjectsApi, bucket: string, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) await api.put(bucket, path, bytes(path))
}

/** Returns the paths of everything in a bucket, including hidden objects. */
export async function pathsIn(api: ObjectsApi, bucket: string): Promise<readonly string[]> {
  const { entries } = await api.list(bucket, '', { recursive: true, all: true })
  return entries.map(({ path }) => path)
}
