/** What must be there for a write to count: the version that its writer saw, or nothing. */
import { AppError } from './errors.ts'

export type ExpectedVersion = number | 'absent'

/** Of a write that counts only on the `revision` that the writer saw; the ETag over HTTP. */
export interface RevisionOptions {
  readonly ifRevision?: ExpectedVersion | undefined
}

/** Throws `PRECONDITION`. `what`: such as `Resource r1`. `version`: what is there; undefined: nothing is */
export function requireVersion(what: string, version: number | undefined, expected: ExpectedVersion | undefined): void {
  if (expected === undefined || expected === (version ?? 'absent')) return
  const now = version === undefined ? 'is not there' : `has version ${version}`
  const wanted = expected === 'absent' ? 'and should not be there' : `not version ${expected}`
  throw new AppError('PRECONDITION', `${what} ${now}, ${wanted}; read it again and repeat the change`)
}
