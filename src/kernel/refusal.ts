/** Refusals of a body or query, with all of its problems at once. */
import { AppError, type Issue } from './errors.ts'

const MAX_TOLD = 20

/** Several problems of one body or query at once. */
export function refuse(subject: string, issues: readonly Issue[]): AppError {
  return new AppError('VALIDATION', `${subject}: ${issuesText(issues)}`, { issues })
}

/** `/path <- what is wrong; what would be right`, at most 20 of them. */
export function issuesText(issues: readonly Issue[]): string {
  const errors = issues.filter(({ severity }) => severity === 'ERROR')
  const told = errors.length === 0 ? issues : errors
  const lines = told.slice(0, MAX_TOLD).map(({ path, message, suggestion }) => {
    const hint = suggestion === undefined ? '' : ` (${suggestion})`
    return `${path === '' ? '' : `${path} <- `}${message}${hint}`
  })
  const more = told.length - lines.length
  return lines.join('; ') + (more > 0 ? `; and ${more} more` : '')
}

/** What `read` refuses, as issues; empty when it refuses nothing. Anything but an AppError is thrown on. */
export function refusedBy(read: () => unknown): readonly Issue[] {
  try {
    read()
    return []
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.issues.length > 0) return error.issues
    return [{ type: 'BODY', severity: 'ERROR', path: '', message: error.message }]
  }
}
