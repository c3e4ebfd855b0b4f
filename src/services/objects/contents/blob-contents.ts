/** Contents in the objects of the host's own storage: the store `files`. */
import { AppError } from '#kernel'
import type { Blobs, Storage } from '#storage'
import type { ByteRange, ContentStore, ObjectStore, StoredContent } from '../contract.ts'
import { openedContent } from './opened-content.ts'

export class BlobContents implements ContentStore {
  readonly shown: ObjectStore
  readonly #storage: Storage

  constructor(storage: Storage) {
    this.#storage = storage
    this.shown = { type: 'files', name: 'files', url: 'files:' }
  }

  async put(
    tenant: string,
    id: string,
    content: AsyncIterable<Uint8Array>,
    { contentType }: { readonly contentType: string },
  ): Promise<StoredContent> {
    const { size, etag } = await this.#blobs(tenant).put(pathOf(id), content, { contentType, digest: 'md5' })
    return { size, etag }
  }

  async open(tenant: string, id: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined> {
    const found = await this.#blobs(tenant).get(pathOf(id), range)
    try {
      return found && (await openedContent(found.content))
    } catch (error) {
      // removed between the look and the opening
      if (error instanceof AppError && error.code === 'CONFLICT') return undefined
      throw error
    }
  }

  copy(tenant: string, source: string, target: string): Promise<boolean> {
    return this.#blobs(tenant).copy(pathOf(source), pathOf(target))
  }

  async remove(tenant: string, id: string): Promise<void> {
    await this.#blobs(tenant).delete(pathOf(id))
  }

  /** Whoever opened the storage closes it. */
  async close(): Promise<void> {}

  #blobs(tenant: string): Blobs {
    return this.#storage.tenant(tenant).blobs
  }
}

/** Other services have objects in the same storage. */
function pathOf(id: string): string {
  return `contents/${id}`
}
