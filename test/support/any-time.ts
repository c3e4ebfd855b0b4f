/** Options of a host that takes any timestamp of a live message: for tests whose times are those of a recording. */
export const ANY_TIME = { maxAhead: 'off', maxBehind: 'off' } as const
