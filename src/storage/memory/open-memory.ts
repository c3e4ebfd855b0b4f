/** Opens storage in memory, for tests and simulation. It behaves like the durable media, but ends with the process. */
import { randomUUID } from 'node:crypto'
import type { BlobMedium } from '../blob-medium.ts'
import type { Storage } from '../contract.ts'
import { compareText } from '../order.ts'
import { Specs } from '../spec.ts'
import { checkTenant, closedError } from '../tenant.ts'
import { MemoryDisk } from './memory-disk.ts'
import { openMemoryBlobs } from './memory-objects.ts'
import { MemoryStore, type MemoryHost } from './memory-store.ts'

export interface MemoryOptions {
  /** epoch ms, for expiry and modification times of objects; default: the machine's clock */
  readonly clock?: () => number
  /** content that survives closing. Throws `STORE` while another medium uses it */
  readonly disk?: MemoryDisk
  /** medium for objects, closed together with the storage; default: the disk */
  readonly blobs?: BlobMedium
}

export function openMemory(options: MemoryOptions = {}): Storage {
  const { clock = Date.now, disk = new MemoryDisk() } = options
  disk.take()
  const blobs = options.blobs ?? openMemoryBlobs({ clock, keep: disk.objects })
  const specs = new Specs()
  let closed = false
  let commits = 0
  let lastCommitMs = 0
  const host: MemoryHost = {
    disk,
    specs,
    clock,
    session: randomUUID(),
    checkOpen() {
      if (closed) throw closedError()
    },
    committed(ms) {
      commits += 1
      lastCommitMs = ms
    },
  }
  return {
    tenant(id) {
      host.checkOpen()
      checkTenant(id)
      return new MemoryStore(host, id, blobs.tenant(id))
    },
    async tenants() {
      host.checkOpen()
      return [...new Set([...disk.tenants(), ...(await blobs.tenants())])].sort(compareText)
    },
    async close() {
      if (closed) return
      closed = true
      disk.release()
      await blobs.close()
    },
    stats: () => ({ queued: 0, commits, lastCommitMs }),
  }
}
