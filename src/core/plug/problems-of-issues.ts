/** What a service would refuse of a plug's properties, so that a check can tell it before. */
import type { PropertyProblem } from './plug.ts'
import type { BodyIssue } from './services.ts'

/**
 * What a service has against what a plug would send, for the plug's `check`. `renamed`: parts that are properties of
 * their own, by their names there; all others stand in the property `rest`.
 */
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
