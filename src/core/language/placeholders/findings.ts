/** What a walk over placeholders gathers: uses, needs and faults. */
import { AppError, describeIssue, type Issue } from '#kernel'
import type { BindingProblem, BindingUse } from './binding.ts'

/** What a walk over a value gathers on its way. */
export interface Findings {
  readonly uses: BindingUse[]
  readonly problems: BindingProblem[]
}

export function emptyFindings(): Findings {
  return { uses: [], problems: [] }
}

/** The error for placeholders that cannot be read: `BINDING`, all of them at once. */
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
