/** The error for properties that are wrong only together. */
import { validationError } from '#kernel'

/**
 * For a plug's `prepare`: the error for properties that are wrong only together, shown at one of them. When all of them
 * are constant, whoever checks the rule already says so. `VALIDATION`.
 */
export function lacking(property: string, message: string, suggestion: string): Error {
  return validationError('the properties', [
    { path: `/${property}`, message, suggestion, severity: 'ERROR', type: 'PROPERTY' },
  ])
}
