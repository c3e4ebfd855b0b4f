/** Source text that finds out whether a number of data is exact, in all that is generated of a shape. */

/** Zero for an exact number (`isExact`), and NaN for any other: 2^53 times this is infinite, and what is less is not. */
export function exactSource(value: string): string {
  return `0 * (${value} * ${2 ** 971})`
}
