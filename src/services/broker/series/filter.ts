/** Which samples take part, before anything is aggregated. */
import { isPlainObject, type Issues, ownValue, shown } from '#kernel'
import type { SampleValue } from '#storage'

export type Filter = (value: SampleValue) => boolean

type Comparison = (sample: SampleValue, bound: SampleValue) => boolean

/** Values of another type than the bound fit `ne` alone. */
const COMPARISONS: ReadonlyMap<string, Comparison> = new Map<string, Comparison>([
  ['gt', (sample, bound) => typeof sample === typeof bound && sample > bound],
  ['gte', (sample, bound) => typeof sample === typeof bound && sample >= bound],
  ['lt', (sample, bound) => typeof sample === typeof bound && sample < bound],
  ['lte', (sample, bound) => typeof sample === typeof bound && sample <= bound],
  ['eq', (sample, bound) => sample === bound],
  ['ne', (sample, bound) => sample !== bound],
])
const OPERATORS = `write one of ${[...COMPARISONS.keys(), 'between'].join(', ')}`
const MEMBERS = new Set(['operator', 'value', 'lowerBound', 'upperBound'])

/** Undefined when something is wrong; then the issues know what. */
export function readFilter(filter: unknown, path: string, issues: Issues): Filter | undefined {
  if (!isPlainObject(filter)) {
    return issues.wrong(path, `${shown(filter)} is no filter`, 'write {"operator": "gt", "value": 20}')
  }
  for (const key of Object.keys(filter)) {
    if (!MEMBERS.has(key)) {
      issues.wrong(`${path}/${key}`, 'is no part of a filter', `write one of ${[...MEMBERS].join(', ')}`)
    }
  }
  const operator = ownValue(filter, 'operator')
  if (operator === 'between') return readBetween(filter, path, issues)
  const comparison = typeof operator === 'string' ? COMPARISONS.get(operator) : undefined
  if (comparison === undefined) {
    return issues.wrong(
      `${path}/operator`,
      operator === undefined ? 'is missing' : `${shown(operator)} is unknown`,
      OPERATORS,
    )
  }
  const value = ownValue(filter, 'value')
  if (typeof value !== 'number' && typeof value !== 'string' && typeof value !== 'boolean') {
    return issues.wrong(
      `${path}/value`,
      value === undefined ? 'is missing' : `${shown(value)} is nothing to compare with`,
      'give a number or a text',
    )
  }
  return (sample) => comparison(sample, value)
}

function readBetween(filter: object, path: string, issues: Issues): Filter | undefined {
  const lower = readBound(filter, 'lowerBound', path, issues)
  const upper = readBound(filter, 'upperBound', path, issues)
  if (lower === undefined || upper === undefined) return undefined
  if (lower > upper) {
    return issues.wrong(`${path}/lowerBound`, `${lower} is above upperBound, which is ${upper}`, 'exchange them')
  }
  return (sample) => typeof sample === 'number' && sample >= lower && sample <= upper
}

function readBound(filter: object, name: string, path: string, issues: Issues): number | undefined {
  const bound = ownValue(filter, name)
  if (typeof bound === 'number') return bound
  const message = bound === undefined ? 'is missing' : `${shown(bound)} is no number`
  return issues.wrong(`${path}/${name}`, message, 'give a number; both bounds take part')
}
