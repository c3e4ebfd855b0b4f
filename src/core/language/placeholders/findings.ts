/** Collects the results of a search for placeholders: uses, needs and faults. */
import { AppError, describeIssue, type Issue } from '#kernel'
import type { BindingProblem, BindingUse } from './binding.ts'

export interface Findings {
  readonly uses: BindingUse[]
  readonly problems: BindingProblem[]
}

export function emptyFindings(): Findings {
  return { uses: [], problems: [] }
}

export function brokenBindings(problems: readonly BindingProblem[]): AppError {
  const issues = problems.map(({ pointer, message, suggestion }): Issue => ({
    path: pointer,
    message,
    suggestion,
    severity: 'ERROR',
    type: 'BINDING',
  }))
  return new AppError('BINDING', issues.map(describeIssue).join('\n'), { issues })
}
