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
