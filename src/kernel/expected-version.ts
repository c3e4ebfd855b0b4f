/** Precondition of a write: the version that the caller read, or that the document is absent. */
import { AppError } from './errors.ts'

export type ExpectedVersion = number | 'absent'

/** Options of a conditional write. Over HTTP, `ifRevision` is the ETag. */
export interface RevisionOptions {
  readonly ifRevision?: ExpectedVersion | undefined
}

/**
 * Throws `PRECONDITION` when the stored version is not the expected one. `what` names the document in the message, such
 * as `Resource r1`. `version` is undefined when the document is absent.
 */
export function requireVersion(what: string, version: number | undefined, expected: ExpectedVersion | undefined): void {
  if (expected === undefined || expected === (version ?? 'absent')) return
  const now = version === undefined ? 'does not exist' : `has version ${version}`
  const wanted = expected === 'absent' ? 'but should not exist' : `not version ${expected}`
  throw new AppError('PRECONDITION', `${what} ${now}, ${wanted}; read it again and repeat the change`)
}
