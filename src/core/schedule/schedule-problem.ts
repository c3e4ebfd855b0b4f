/** Creates issues of schedule settings, and the error that lists them. */
import { AppError, describeIssue, type Issue } from '#kernel'

export function scheduleProblem(field: string, message: string, suggestion?: string): Issue {
  const path = `/${field}`
  const issue: Issue = { path, message, severity: 'ERROR', type: 'SCHEDULE' }
  return suggestion === undefined ? issue : { ...issue, suggestion }
}

export function scheduleError(issues: readonly Issue[]): AppError {
  const lines = issues.map((issue) => `  ${describeIssue(issue)}`)
  const count = issues.length === 1 ? '1 problem' : `${issues.length} problems`
  return new AppError('SCHEDULE', `the schedule has ${count}:\n${lines.join('\n')}`, { issues })
}

/** Quotes a value for a message, truncating long text. */
export function quoted(value: unknown): string {
  if (typeof value !== 'string') return String(value)
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}...` : value)
}
