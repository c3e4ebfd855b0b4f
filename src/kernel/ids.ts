/** Length limit of resource ids and metric names. */

/** bytes of UTF-8; every medium stores that many */
export const MAX_ID_BYTES = 512

/** NUL, or half of a surrogate pair: no medium keeps it */
export const UNSTORABLE = /[\0\p{Surrogate}]/u

export function isTooLongForId(text: string): boolean {
  // a UTF-16 unit takes at most three bytes of UTF-8
  return text.length * 3 > MAX_ID_BYTES && new TextEncoder().encode(text).length > MAX_ID_BYTES
}
