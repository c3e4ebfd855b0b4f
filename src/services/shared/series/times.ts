/** The bounds of time that series know. */

/** epoch ms, either way: what a Date can hold */
export const MAX_TIME = 8_640_000_000_000_000
