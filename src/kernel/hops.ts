/** Where a chain of rules ends, each of which sets the next one off. */

/** rules in a row that may lead to a change, whatever is changed */
export const MAX_HOPS = 16
