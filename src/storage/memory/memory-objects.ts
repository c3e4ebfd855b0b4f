/** Keeps objects in memory: the blobs of `openMemory`, and a separate medium for tests. */
import { createHash } from 'node:crypto'
import type { BlobMedium } from '../blob-medium.ts'
import type { BlobInfo, Blobs } from '../blobs.ts'
import { checkByteRange, checkExpectedEtag, checkList, checkPath, checkPut, piecesOf } from '../check-blobs.ts'
import { compareText } from '../order.ts'
import { pathPage } from '../path-page.ts'
import { checkTenant, closedError } from '../tenant.ts'

export interface MemoryObject {
  readonly info: BlobInfo
  readonly bytes: Uint8Array
}

type Tenants = Map<string, Map<string, MemoryObject>>

/** `keep`: content that survives closing; by default nothing survives. */
export function openMemoryBlobs(options: { readonly clock?: () => number; readonly keep?: Tenants } = {}): BlobMedium {
  const { clock = Date.now, keep = new Map<string, Map<string, MemoryObject>>() } = options
  const state = { closed: false }
  return {
    tenant: (id) => {
      if (state.closed) throw closedError()
      checkTenant(id)
      return new MemoryBlobs(id, keep, clock, () => state.closed)
    },
    tenants: async () => {
      if (state.closed) throw closedError()
      return [...keep]
        .filter(([, objects]) => objects.size > 0)
        .map(([id]) => id)
        .sort(compareText)
    },
    close: async () => {
      state.closed = true
    },
  }
}

class MemoryBlobs implements Blobs {
  readonly #tenant: string
  readonly #tenants: Tenants
  readonly #clock: () => number
  readonly #isClosed: () => boolean
  /** sorted paths, rebuilt by the first listing after a change */
  #paths: readonly string[] | undefined

  constructor(tenant: string, tenants: Tenants, clock: () => number, isClosed: () => boolean) {
    this.#tenant = tenant
    this.#tenants = tenants
    this.#clock = clock
    this.#isClosed = isClosed
  }

  async put(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options?: Parameters<Blobs['put']>[2],
  ): Promise<BlobInfo> {
    this.#checkOpen()
    const { contentType, metadata, expect, digest } = checkPut(path, options)
    const chunks: Uint8Array[] = []
    for await (const piece of piecesOf(content)) chunks.push(new Uint8Array(piece))
    const bytes = Buffer.concat(chunks)
    this.#checkOpen()
    const objects = this.#objects()
    checkExpectedEtag(path, expect, objects.get(path)?.info.etag)
    const etag = createHash(digest).update(bytes).digest('hex')
    const info = { path, size: bytes.length, etag, contentType, modified: this.#clock(), metadata }
    if (!objects.has(path)) this.#paths = undefined
    objects.set(path, { info, bytes })
    this.#tenants.set(this.#tenant, objects)
    return copyOf(info)
  }

  async info(path: string): Promise<BlobInfo | undefined> {
    this.#checkOpen()
    checkPath(path)
    const found = this.#objects().get(path)
    return found && copyOf(found.info)
  }

  async get(path: string, range?: { readonly from: number; readonly until?: number }): ReturnType<Blobs['get']> {
    this.#checkOpen()
    checkPath(path)
    checkByteRange(range)
    const found = this.#objects().get(path)
    if (found === undefined) return undefined
    // copied, since readers may write to their buffers
    const part = new Uint8Array(found.bytes.subarray(range?.from ?? 0, (range?.until ?? found.bytes.length) + 1))
    return { info: copyOf(found.info), content: onePiece(part) }
  }

  async copy(source: string, target: string): Promise<boolean> {
    this.#checkOpen()
    checkPath(source)
    checkPath(target)
    const objects = this.#objects()
    const found = objects.get(source)
    if (found === undefined) return false
    if (!objects.has(target)) this.#paths = undefined
    objects.set(target, { ...found, info: { ...found.info, path: target } })
    return true
  }

  async list(query: Parameters<Blobs['list']>[0]): Promise<readonly BlobInfo[]> {
    this.#checkOpen()
    const checked = checkList(query)
    const objects = this.#objects()
    this.#paths ??= [...objects.keys()].sort(compareText)
    return pathPage(this.#paths, checked).flatMap((path) => {
      const found = objects.get(path)
      return found === undefined ? [] : [copyOf(found.info)]
    })
  }

  async delete(path: string): Promise<boolean> {
    this.#checkOpen()
    checkPath(path)
    const gone = this.#objects().delete(path)
    if (gone) this.#paths = undefined
    return gone
  }

  #objects(): Map<string, MemoryObject> {
    return this.#tenants.get(this.#tenant) ?? new Map<string, MemoryObject>()
  }

  #checkOpen(): void {
    if (this.#isClosed()) throw closedError()
  }
}

function copyOf(info: BlobInfo): BlobInfo {
  return { ...info, metadata: { ...info.metadata } }
}

async function* onePiece(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  if (bytes.length > 0) yield bytes
}
