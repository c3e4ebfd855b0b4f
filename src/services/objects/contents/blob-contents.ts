/** Stores contents as blobs in the tenant's store; this is the object store `files`. */
import { AppError } from '#kernel'
import type { Blobs } from '#storage'
import type { ByteRange, ContentStore, ObjectStore, StoredContent } from '../contract.ts'
import { openedContent } from './opened-content.ts'

export class BlobContents implements ContentStore {
  readonly shown: ObjectStore = { type: 'files', name: 'files', url: 'files:' }
  readonly #blobs: Blobs

  constructor(blobs: Blobs) {
    this.#blobs = blobs
  }

  async put(
    id: string,
    content: AsyncIterable<Uint8Array>,
    { contentType }: { readonly contentType: string },
  ): Promise<StoredContent> {
    const { size, etag } = await this.#blobs.put(pathOf(id), content, { contentType, digest: 'md5' })
    return { size, etag }
  }

  async open(id: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined> {
    const found = await this.#blobs.get(pathOf(id), range)
    try {
      return found && (await openedContent(found.content))
    } catch (error) {
      // removed between look-up and opening
      if (error instanceof AppError && error.code === 'CONFLICT') return undefined
      throw error
    }
  }

  copy(source: string, target: string): Promise<boolean> {
    return this.#blobs.copy(pathOf(source), pathOf(target))
  }

  async remove(id: string): Promise<void> {
    await this.#blobs.delete(pathOf(id))
  }
}

/** The prefix separates contents from the blobs of other services. */
function pathOf(id: string): string {
  return `contents/${id}`
}
