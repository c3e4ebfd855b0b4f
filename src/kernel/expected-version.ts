/** Precondition of a write: the version that its writer saw, or absence. */
import { AppError } from './errors.ts'

export type ExpectedVersion = number | 'absent'

/** Options of a conditional write. `ifRevision` is the ETag over HTTP. */
export interface RevisionOptions {
  readonly ifRevision?: ExpectedVersion | undefined
}

/**
 * Throws `PRECONDITION` when the versions differ. `what`: subject of the message, such as `Resource r1`. `version`: the
 * stored one; undefined: absent.
 */
export function requireVersion(what: string, version: number | undefined, expected: ExpectedVersion | undefined): void {
  if (expected === undefined || expected === (version ?? 'absent')) return
  const now = version === undefined ? 'does not exist' : `has version ${version}`
  const wanted = expected === 'absent' ? 'but should not exist' : `not version ${expected}`
  throw new AppError('PRECONDITION', `${what} ${now}, ${wanted}; read it again and repeat the change`)
}
