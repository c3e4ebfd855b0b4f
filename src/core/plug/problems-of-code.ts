/** What is wrong with code in a property, for the check of a plug. */
import { AppError } from '#kernel'
import type { PropertyProblem } from './plug.ts'

/**
 * For a plug's `check`: what `compile` has against the value of a property, one problem for each of its issues.
 * A property that is not known yet has no problem. Anything but an AppError is thrown on.
 */
export function problemsOfCode<T>(
  property: string,
  value: T | undefined,
  compile: (value: T) => unknown,
): readonly PropertyProblem[] {
  if (value === undefined) return []
  try {
    compile(value)
    return []
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.issues.length === 0) return [{ property, message: error.message }]
    return error.issues.map(({ path, message, suggestion }) => ({
      property,
      message: path === '' ? message : `${path}: ${message}`,
      ...(suggestion === undefined ? {} : { suggestion }),
    }))
  }
}
