/** Time bounds of series. */

/** Epoch ms in either direction: the range of Date */
export const MAX_TIME = 8_640_000_000_000_000
