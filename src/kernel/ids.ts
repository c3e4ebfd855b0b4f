/** How long the ids of resources and the names of metrics may be, wherever they come in. */

/** bytes of UTF-8; every medium keeps so many */
export const MAX_ID_BYTES = 512

/** NUL, or half of a surrogate pair: no medium keeps it */
export const UNSTORABLE = /[\0\p{Surrogate}]/u

export function isTooLongForId(text: string): boolean {
  // three bytes a unit is the most that UTF-8 takes
  return text.length * 3 > MAX_ID_BYTES && new TextEncoder().encode(text).length > MAX_ID_BYTES
}
