/** Converts issues of a service to property problems, so that a check reports them early. */
import type { PropertyProblem } from './plug.ts'
import type { BodyIssue } from './services.ts'

/** `renamed`: parts that are separate properties, by their names; all others belong to the property `rest`. */
export function problemsOfIssues(
  issues: readonly BodyIssue[],
  rest: string,
  renamed: Readonly<Record<string, string>> = {},
): readonly PropertyProblem[] {
  return issues.map(({ path, message, suggestion }) => {
    const [, first = ''] = path.split('/')
    const own = Object.hasOwn(renamed, first) ? renamed[first] : undefined
    const inner = own === undefined ? path : path.slice(first.length + 1)
    return {
      property: own ?? rest,
      message: inner === '' ? message : `${inner}: ${message}`,
      ...(suggestion !== undefined && { suggestion }),
    }
  })
}
