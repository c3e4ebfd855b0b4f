/** Limits how long a chain of rules that trigger each other may get. */

export const MAX_HOPS = 16
