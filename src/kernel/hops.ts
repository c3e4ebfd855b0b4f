/** Limit of chains of rules that trigger each other. */

export const MAX_HOPS = 16
