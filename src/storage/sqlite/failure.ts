/** Converts errors of SQLite to errors of the store. */
import { AppError, type Failure, failureOf, messageOf } from '#kernel'
import { damaged } from '../damage.ts'

export type StoreFailure = Required<Failure>

export function storeFailureOf(thrown: unknown): StoreFailure {
  const { code, message, issues } = failureOf(sqliteError(thrown))
  return code === undefined
    ? { code: 'STORE', message: `the store failed: ${message}`, issues }
    : { code, message, issues }
}

const [FULL, CORRUPT, NOT_A_DATABASE] = [13, 11, 26] as const

/** Returns other errors unchanged. */
export function sqliteError(thrown: unknown): unknown {
  const code = sqliteCode(thrown)
  const isBeyond = thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_OUT_OF_RANGE'
  if (code !== CORRUPT && code !== NOT_A_DATABASE && !isBeyond) return thrown
  return damaged(`A database of the data folder (${messageOf(thrown)})`)
}

function sqliteCode(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('errcode' in thrown)) return undefined
  return Number(thrown.errcode) & 0xff
}

/** Reports a job that had no effect. `UNAVAILABLE`: the disk is full, so a retry may succeed. */
export interface NotWritten {
  readonly failure: string
  readonly code: 'UNAVAILABLE' | 'STORE' | 'DAMAGED'
}

export function notWritten(thrown: unknown): NotWritten {
  const error = sqliteError(thrown)
  const isDamaged = error instanceof AppError && error.code === 'DAMAGED'
  const code = isDamaged ? 'DAMAGED' : sqliteCode(thrown) === FULL ? 'UNAVAILABLE' : 'STORE'
  return { failure: messageOf(error), code }
}

export function writeError({ failure, code }: NotWritten): AppError {
  return new AppError(code, `The store could not write: ${failure}${code === 'UNAVAILABLE' ? '; free some space' : ''}`)
}
