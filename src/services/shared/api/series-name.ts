/** Checks the names of resources and metrics in series. */
import { Type } from 'typebox'
import { isTooLongForId, MAX_ID_BYTES, shown, UNSTORABLE } from '#kernel'
import { refined } from './fields.ts'

/** Schema for the id of a resource, or the name of a metric. `what`: used in errors. */
export function seriesName(what: string) {
  return refined(Type.String({ minLength: 1, maxLength: MAX_ID_BYTES }), (value) => {
    const fits = typeof value === 'string' && value !== '' && !isTooLongForId(value) && !UNSTORABLE.test(value)
    if (fits) return []
    const suggestion = `write a text of 1 to ${MAX_ID_BYTES} bytes of Unicode`
    return [{ message: `${shown(value)} is not the name of a ${what}`, suggestion }]
  })
}
