/** Compares versions of plugs, and parses version ranges such as `>=1.0.0 <3`. */

const VERSION = /^\d{1,9}\.\d{1,9}\.\d{1,9}$/
const COMPARATOR = /^(>=|<=|>|<|=)(\d{1,9}(?:\.\d{1,9}){0,2})$/
const MAX_COMPARATORS = 10

export const RANGE_RULE = `use 1 to ${MAX_COMPARATORS} comparators that must all hold, such as >=1.0.0 <3`

export type VersionRange = (version: string) => boolean

export function isVersion(text: string): boolean {
  return VERSION.test(text)
}

/** Orders versions `major.minor.patch`, oldest first. */
export function compareVersions(a: string, b: string): number {
  return compareNumbers(numbersOf(a), numbersOf(b))
}

export function majorOf(version: string): number {
  return Number(version.split('.')[0])
}

/**
 * Parses comparators (`>=`, `<`, `<=`, `>`, `=`) separated by spaces, all of which must hold; undefined when malformed.
 * A comparator with one or two numbers compares only those parts: `<3` and `<=2` include 2.9.1.
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
