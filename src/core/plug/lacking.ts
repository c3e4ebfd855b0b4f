/** Error for properties that are only jointly invalid. */
import { validationError } from '#kernel'

/**
 * For `prepare` of a plug: reports the problem at one of the properties. A check of the rule reports it already when
 * all of them are constant. `VALIDATION`.
 */
export function lacking(property: string, message: string, suggestion: string): Error {
  return validationError('the properties', [
    { path: `/${property}`, message, suggestion, severity: 'ERROR', type: 'PROPERTY' },
  ])
}
