/** Checks code in a property, for the `check` function of a plug. */
import { AppError } from '#kernel'
import type { PropertyProblem } from './plug.ts'

/**
 * Returns one problem for each issue that `compile` reports; none for a value that is not known yet. Rethrows errors
 * other than AppError.
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
