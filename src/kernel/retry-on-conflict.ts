/** Retries work after a version conflict of the store. */
import { AppError } from './errors.ts'

/** Other hosts and writers in the background may be faster now and then, not always. */
const MAX_TRIES = 20

/** Retries the work, from its reading on, after a version conflict of the store. `attempt` counts from 1. */
export async function retryOnConflict<T>(
  work: (attempt: number) => Promise<T>,
  tries = MAX_TRIES,
  exhausted = writtenMeanwhile,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt)
    } catch (error) {
      if (!isStoreConflict(error)) throw error
      if (attempt >= tries) throw exhausted(error)
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
