/** Detects version conflicts, and builds the error that reports them. */
import { AppError, type Issue } from '#kernel'
import type { Expectation } from './contract.ts'

export interface Conflict {
  /** index of the write in its unit, from 0 */
  readonly index: number
  readonly collection: string
  readonly id: string
  readonly expected: Expectation
  readonly actual: number | 'absent'
}

export function isExpected(expect: Expectation, version: number | undefined): boolean {
  if (expect === 'any') return true
  return expect === 'absent' ? version === undefined : version === expect
}

export function conflictError(conflicts: readonly Conflict[]): AppError {
  const issues = conflicts.map(({ index, collection, id, expected, actual }): Issue => {
    const is = actual === 'absent' ? 'does not exist' : `has version ${actual}`
    const wanted = expected === 'absent' ? 'it should not exist yet' : `version ${expected} was expected`
    return {
      path: `/${index}`,
      message: `${collection}/${id} ${is}, ${wanted}`,
      suggestion: 'read it again, then repeat the write',
      severity: 'ERROR',
      type: 'CONFLICT',
      details: { collection, id, expected, actual },
    }
  })
  const lines = issues.map((issue) => issue.message)
  return new AppError('CONFLICT', `${lines.join('; ')}: read again, then repeat the write`, { issues })
}
