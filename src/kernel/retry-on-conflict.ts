/** Retries work after a version conflict of the store. */
import { AppError } from './errors.ts'

const MAX_TRIES = 20

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

/** True for a conflict raised by the store, which lists the conflicting writes; conflicts raised by services do not. */
export function isStoreConflict(error: unknown): boolean {
  return error instanceof AppError && error.code === 'CONFLICT' && error.issues.length > 0
}

export function writtenMeanwhile(cause: unknown): AppError {
  return new AppError('CONFLICT', 'Concurrent writes to the same data kept conflicting; retry the request', { cause })
}
