/** Commits again over what another writer was faster with. */
import { AppError } from '../../kernel/errors.ts'

/** Others may be faster now and then, not always. */
const MAX_TRIES = 20

/** Does the work anew, from its reading on, when the store says that something else was written meanwhile. */
export async function untilCommitted<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      // conflicts of the store name the writes; our own do not
      const isRace = error instanceof AppError && error.code === 'CONFLICT' && error.issues.length > 0
      if (!isRace || tries >= MAX_TRIES) throw error
    }
  }
}
