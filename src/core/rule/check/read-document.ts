/** Copies a document from outside to plain JSON that can be traversed safely. */
import { at, FORBIDDEN_KEYS, isPlainObject, kindOf, shown } from '#kernel'
import { emptyRecord } from './record.ts'
import { Report } from './report.ts'

export const MAX_DEPTH = 64
export const MAX_TEXT = 1_048_576
/** Maximum number of bindings and template tags in all texts of a document together. */
const MAX_PLACEHOLDERS = 5_000
const PART_TEXT = 10_000
const PART_PLACEHOLDERS = 50
const PART_DEPTH = 32

/** Plain JSON, no prototypes, bounded in depth and size. Undefined if the document is unusable. */
export function readDocument(input: unknown, report: Report): Record<string, unknown> | undefined {
  if (!isPlainObject(input)) {
    report.error(
      'TYPE',
      '',
      `expected an object, got ${kindOf(input)}`,
      'send the rule as a JSON object with "sensors"',
    )
    return undefined
  }
  const budget = { left: MAX_TEXT, placeholders: MAX_PLACEHOLDERS, deep: false }
  const copy = copyOf(input, '', 1, budget, report)
  if (budget.left < 0) {
    report.error(
      'TOO_LARGE',
      '',
      `the document is longer than ${MAX_TEXT} characters of JSON`,
      'split the rule into several',
    )
    return undefined
  }
  if (budget.placeholders < 0) {
    report.error(
      'TOO_LARGE',
      '',
      `the document has more than ${MAX_PLACEHOLDERS} bindings and tags of templates`,
      'loop with {{#each}}, or split the rule into several',
    )
    return undefined
  }
  if (budget.deep) return undefined
  return isPlainObject(copy) ? copy : undefined
}

/** Undefined if the part alone exceeds a limit, or contains something to omit. */
export function readPart(part: unknown): Record<string, unknown> | undefined {
  const report = new Report()
  const budget = { left: PART_TEXT, placeholders: PART_PLACEHOLDERS, deep: false }
  const copy = copyOf(part, '', MAX_DEPTH - PART_DEPTH, budget, report)
  const isRefused = budget.left < 0 || budget.placeholders < 0 || budget.deep || report.issues.length > 0
  return !isRefused && isPlainObject(copy) ? copy : undefined
}

interface Budget {
  left: number
  placeholders: number
  deep: boolean
}

function copyOf(value: unknown, path: string, depth: number, budget: Budget, report: Report): unknown {
  if (budget.left < 0 || budget.placeholders < 0) return undefined
  switch (typeof value) {
    case 'string':
      budget.left -= value.length + 2
      countPlaceholders(value, budget)
      return value
    case 'boolean':
      budget.left -= 4
      return value
    case 'number':
      budget.left -= 4
      if (Number.isFinite(value)) return value
      report.error('TYPE', path, `${String(value)} is not a number in JSON`, 'write a finite number, or omit the field')
      return undefined
    default:
  }
  if (value === null) {
    budget.left -= 4
    return null
  }
  if (!Array.isArray(value) && !isPlainObject(value)) {
    report.error('TYPE', path, `${kindOf(value)} is not JSON`, 'write plain JSON values only')
    return undefined
  }
  if (depth > MAX_DEPTH) {
    if (!budget.deep)
      report.error('TOO_LARGE', path, `nested deeper than ${MAX_DEPTH} levels`, 'flatten this part of the document')
    budget.deep = true
    return undefined
  }
  return Array.isArray(value)
    ? copyOfArray(value, path, depth, budget, report)
    : copyOfObject(value, path, depth, budget, report)
}

/** Counts only opening characters, so that texts with too many placeholders are never parsed. */
function countPlaceholders(text: string, budget: Budget): void {
  for (const open of ['{{', '${']) {
    for (let from = text.indexOf(open); from >= 0 && budget.placeholders >= 0; from = text.indexOf(open, from + 2)) {
      budget.placeholders--
    }
  }
}

function copyOfArray(
  values: readonly unknown[],
  path: string,
  depth: number,
  budget: Budget,
  report: Report,
): unknown[] {
  const copy: unknown[] = []
  budget.left -= 2 + values.length
  for (let i = 0; i < values.length && budget.left >= 0; i++) {
    // omitting a hole would shift the later items, and with them the reported paths
    copy.push(copyOf(values[i] === undefined ? null : values[i], at(path, i), depth + 1, budget, report) ?? null)
  }
  return copy
}

function copyOfObject(
  record: Readonly<Record<string, unknown>>,
  path: string,
  depth: number,
  budget: Budget,
  report: Report,
): Record<string, unknown> {
  const copy = emptyRecord()
  budget.left -= 2
  for (const [key, value] of Object.entries(record)) {
    if (value === undefined) continue
    budget.left -= key.length + 4
    if (budget.left < 0) break
    if (FORBIDDEN_KEYS.has(key)) {
      report.error('KEY', at(path, key), `the key ${shown(key)} is not allowed`, 'choose another name')
      continue
    }
    const item = copyOf(value, at(path, key), depth + 1, budget, report)
    if (item !== undefined) copy[key] = item
  }
  return copy
}
