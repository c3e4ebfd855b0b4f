/** Limits the times of series. */

/** largest distance from 1970 in ms: the range of Date */
export const MAX_TIME = 8_640_000_000_000_000
