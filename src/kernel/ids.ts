/** Limits the length and characters of resource ids and metric names. */

/** longest id in bytes of UTF-8, which every storage medium supports */
export const MAX_ID_BYTES = 512

/** Matches NUL and lone surrogates, which no storage medium keeps. */
export const UNSTORABLE = /[\0\p{Surrogate}]/u

export function isTooLongForId(text: string): boolean {
  // a UTF-16 unit takes at most three bytes of UTF-8
  return text.length * 3 > MAX_ID_BYTES && new TextEncoder().encode(text).length > MAX_ID_BYTES
}
