/** Creates errors for properties that are only invalid in combination. */
import { validationError } from '#kernel'

/**
 * Returns a `VALIDATION` error at one property, for `prepare` of a plug. When all properties involved are constant, the
 * check of the rule reports the error already.
 */
export function lacking(property: string, message: string, suggestion: string): Error {
  return validationError('the properties', [
    { path: `/${property}`, message, suggestion, severity: 'ERROR', type: 'PROPERTY' },
  ])
}
