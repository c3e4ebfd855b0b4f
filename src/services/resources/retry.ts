/** Writes again over what another writer was faster with. */
import { AppError } from '../../kernel/errors.ts'

/** Other hosts and writers in the background may be faster now and then, not always. */
const MAX_TRIES = 20

/** Does the work anew, from its reading on, when somebody else wrote meanwhile. */
export async function untilWritten<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries >= MAX_TRIES || !isConflict(error)) throw error
    }
  }
}

/** That of the store, not that a name is taken. */
export function isConflict(error: unknown): boolean {
  return error instanceof AppError && error.code === 'CONFLICT' && error.issues.length > 0
}
