/** Creates errors for properties that are only invalid in combination. */
import { validationError } from '#kernel'

/** Returns a `VALIDATION` error for `prepare`; with constant properties the rule's check reports it already. */
export function lacking(property: string, message: string, suggestion: string): Error {
  return validationError('the properties', [
    { path: `/${property}`, message, suggestion, severity: 'ERROR', type: 'PROPERTY' },
  ])
}
