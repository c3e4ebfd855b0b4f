/** Versions of plugs: their order, and ranges such as `>=1.0.0 <3`. */

const VERSION = /^\d{1,9}\.\d{1,9}\.\d{1,9}$/
const COMPARATOR = /^(>=|<=|>|<|=)(\d{1,9}(?:\.\d{1,9}){0,2})$/
const MAX_COMPARATORS = 10

/** What a range must look like, for messages. */
export const RANGE_RULE = `write 1 to ${MAX_COMPARATORS} comparators that must all hold, such as >=1.0.0 <3`

/** Whether a version, `major.minor.patch`, is in a range. */
export type VersionRange = (version: string) => boolean

export function isVersion(text: string): boolean {
  return VERSION.test(text)
}

/** Below, at or above 0 as `a` is older than, the same as or newer than `b`; both are `major.minor.patch`. */
export function compareVersions(a: string, b: string): number {
  return compareNumbers(numbersOf(a), numbersOf(b))
}

export function majorOf(version: string): number {
  return Number(version.split('.')[0])
}

/**
 * A range as a test: comparators (`>=`, `<`, `<=`, `>`, `=`) with spaces between them, all of which must hold; undefined
 * for a text that is none. A comparator with one or two numbers looks at those alone: `<3` and `<=2` take in 2.9.1.
 */
export function parseVersionRange(text: string): VersionRange | undefined {
  const parts = text.trim().split(/\s+/, MAX_COMPARATORS + 1)
  if (parts.length > MAX_COMPARATORS) return undefined
  const tests: VersionRange[] = []
  for (const part of parts) {
    const [, operator, bound] = COMPARATOR.exec(part) ?? []
    if (operator === undefined || bound === undefined) return undefined
    tests.push(comparator(operator, numbersOf(bound)))
  }
  return (version) => tests.every((test) => test(version))
}

function comparator(operator: string, bound: readonly number[]): VersionRange {
  const compared = (version: string): number => compareNumbers(numbersOf(version).slice(0, bound.length), bound)
  switch (operator) {
    case '>=':
      return (version) => compared(version) >= 0
    case '<=':
      return (version) => compared(version) <= 0
    case '>':
      return (version) => compared(version) > 0
    case '<':
      return (version) => compared(version) < 0
    default:
      return (version) => compared(version) === 0
  }
}

function numbersOf(version: string): readonly number[] {
  return version.split('.').map(Number)
}

function compareNumbers(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < b.length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
