/** Writes again over what another writer was faster with. */
import { AppError } from './errors.ts'

/** Other hosts and writers in the background may be faster now and then, not always. */
const MAX_TRIES = 20

/** Does the work again, from its reading on, when the store says that something else was written meanwhile. */
export async function untilWritten<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!isStoreConflict(error)) throw error
      if (tries >= MAX_TRIES) throw writtenMeanwhile(error)
    }
  }
}

/** A conflict of the store, which names the writes; those of services are about names and states. */
export function isStoreConflict(error: unknown): boolean {
  return error instanceof AppError && error.code === 'CONFLICT' && error.issues.length > 0
}

/** The same for a client, who knows nothing of the store's versions. */
export function writtenMeanwhile(cause: unknown): AppError {
  return new AppError('CONFLICT', 'Others wrote the same at the same time, again and again; try again', { cause })
}
