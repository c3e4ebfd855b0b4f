/** Precondition of a write: the version that the caller read, or that the document is absent. */
import { AppError } from './errors.ts'

export type ExpectedVersion = number | 'absent'

export interface RevisionOptions {
  readonly ifRevision?: ExpectedVersion | undefined
}

/** `what` names the document in the message, such as `Resource r1`; an absent document has no version. */
export function requireVersion(what: string, version: number | undefined, expected: ExpectedVersion | undefined): void {
  if (expected === undefined || expected === (version ?? 'absent')) return
  const now = version === undefined ? 'does not exist' : `has version ${version}`
  const wanted = expected === 'absent' ? 'but should not exist' : `not version ${expected}`
  throw new AppError('PRECONDITION', `${what} ${now}, ${wanted}; read it again and repeat the change`)
}
