/** Orders versions, matches ranges, and picks the next version. */
import { compare, inc, maxSatisfying, minVersion, satisfies, validRange } from 'semver'
import { AppError } from '#kernel'

export const VERSION = /^(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})$/
const MAX_RANGE = 100

export function isVersion(text: string): boolean {
  return VERSION.test(text)
}

export function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split('.'), b.split('.')]
  for (let i = 0; i < 3; i++) {
    const difference = Number(left[i]) - Number(right[i])
    if (difference !== 0) return difference
  }
  return 0
}

/** True for a range in npm's syntax, or `latest`, which matches any version. */
export function isRange(text: string): boolean {
  return text === 'latest' || (text.length <= MAX_RANGE && validRange(text) !== null)
}

export function isInRange(version: string, range: string): boolean {
  return range === 'latest' || satisfies(version, range)
}

/** Increments the newest version at the highest level that the range permits; without a range, at the patch level. */
export function nextVersion(existing: readonly string[], range: string | undefined): string {
  const all = range === undefined || range === 'latest' ? '*' : range
  const newest = maxSatisfying(existing, all)
  if (newest === null) {
    const lowest = range === undefined ? '1.0.0' : (minVersion(all)?.version ?? '1.0.0')
    const first = lowest === '0.0.0' ? '1.0.0' : lowest
    return isVersion(first) && satisfies(first, all) ? first : lowest
  }
  for (const level of range === undefined ? (['patch'] as const) : (['major', 'minor', 'patch'] as const)) {
    const next = inc(newest, level)
    if (next !== null && satisfies(next, all) && !existing.includes(next)) return next
  }
  throw new AppError('CONFLICT', `all versions that ${all} allows already exist; the newest is ${newest}`)
}

export function isPrevious(version: string, other: string, policy: 'patch' | 'minor' | 'all'): boolean {
  if (compare(other, version) >= 0) return false
  if (policy === 'all') return true
  const [major, minor] = version.split('.')
  const [otherMajor, otherMinor] = other.split('.')
  return major === otherMajor && (policy === 'minor' || minor === otherMinor)
}
