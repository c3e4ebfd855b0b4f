/** Host options that accept any timestamp of a live message, for tests that use the times of a recording. */
export const ANY_TIME = { maxAhead: 'off', maxBehind: 'off' } as const
