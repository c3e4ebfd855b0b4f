/**
 * Properties of a called sensor whose moving values are plain reads: one object that is filled anew for each call, with
 * the checks of the general way, which takes over whenever a value is not of the declared type.
 */
import type { DirectProperties } from '../language/placeholders/direct.ts'
import type { Plug } from '../plug/plug.ts'
import { finishProperties } from '../plug/properties.ts'
import type { NodeProperties } from '../graph/rule-properties.ts'

/** Pieces of source: what is read as x0, x1 ..., what must hold of them, and which property each becomes. */
export interface FillSource {
  readonly values: readonly string[]
  readonly checks: readonly string[]
  /** as JSON texts */
  readonly properties: readonly string[]
}

/** Types whose fitting values are told apart by `typeof`, which also tells that they are no inherited ones. */
const CHECKS: Readonly<Partial<Record<string, (value: string) => string>>> = {
  double: exact,
  float: exact,
  string: (value) => `typeof ${value} === 'string'`,
  boolean: (value) => `typeof ${value} === 'boolean'`,
}
/** What is no finite number, or beyond what a number keeps of data, goes the general way. */
function exact(value: string): string {
  return `typeof ${value} === 'number' && ${value} <= ${Number.MAX_SAFE_INTEGER} && ${value} >= ${Number.MIN_SAFE_INTEGER}`
}
/** What stands in the object before the first call, so that its shape never changes. */
const AT_FIRST: Readonly<Partial<Record<string, unknown>>> = { double: 0.5, float: 0.5, string: '', boolean: false }

/**
 * Source that reads what moves of the properties from `message` and `rawData` (by position); undefined when the general
 * way is always needed. `placeOf` gives the position of a called
 * sensor by its label. Nothing of a user's stands in it but keys, as JSON texts.
 */
export function fillSource(
  { plug, compiled, constant }: NodeProperties,
  placeOf: (label: string) => number | undefined,
): FillSource | undefined {
  const { direct } = compiled
  if (direct === undefined || constant !== undefined || plug.prepare !== undefined) return undefined
  if (!isFinishedButReads(plug, direct)) return undefined
  const values: string[] = []
  const checks: string[] = []
  for (const [i, read] of direct.reads.entries()) {
    const check = CHECKS[plug.input[read.property]?.type ?? '']
    const place = read.from === 'node' ? placeOf(read.node) : 0
    const isChoice = plug.input[read.property]?.format !== undefined
    if (check === undefined || place === undefined || isChoice || read.key === '__proto__') return undefined
    const source = read.from === 'node' ? `rawData[${place}]?.` : 'message'
    values.push(`${source}[${JSON.stringify(read.key)}]`)
    checks.push(check(`x${i}`))
  }
  return { values, checks, properties: direct.reads.map(({ property }) => JSON.stringify(property)) }
}

/** The object to fill: what is fixed, then what is read, in the order of the general way. */
export function toFill({ plug, compiled: { direct } }: NodeProperties): Record<string, unknown> {
  const own: Record<string, unknown> = { ...direct?.fixed }
  for (const { property } of direct?.reads ?? []) own[property] = AT_FIRST[plug.input[property]?.type ?? '']
  return own
}

/** Whether a finish would change nothing of the fixed properties, nor add to them. */
export function isFinishedButReads(plug: Plug, { fixed, reads }: DirectProperties): boolean {
  const { properties } = finishProperties(plug, fixed, new Set(reads.map(({ property }) => property)))
  if (properties === undefined) return false
  const keys = Object.keys(properties)
  return keys.length === Object.keys(fixed).length && keys.every((key) => properties[key] === fixed[key])
}
