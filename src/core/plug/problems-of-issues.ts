/** Converts issues that a service reports to property problems, so that a rule check reports them early. */
import type { PropertyProblem } from './plug.ts'
import type { BodyIssue } from './services.ts'

/**
 * Converts the issues. `renamed`: maps parts of the body to the properties that hold them; all other issues belong to
 * property `rest`.
 */
export function problemsOfIssues(
  issues: readonly BodyIssue[],
  rest: string,
  renamed: Readonly<Record<string, string>> = {},
): readonly PropertyProblem[] {
  return issues.map(({ path, message, suggestion }) => {
    const [, first = ''] = path.split('/')
    const property = Object.hasOwn(renamed, first) ? renamed[first] : undefined
    const inner = property === undefined ? path : path.slice(first.length + 1)
    return {
      property: property ?? rest,
      message: inner === '' ? message : `${inner}: ${message}`,
      ...(suggestion !== undefined && { suggestion }),
    }
  })
}
