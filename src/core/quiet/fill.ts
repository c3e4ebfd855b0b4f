/**
 * Properties of a called sensor whose moving values are plain reads: made as one object literal, in the order and with
 * the checks of the general way, which takes over whenever a value is not of the declared type.
 */
import type { DirectProperties } from '../placeholders/direct.ts'
import type { Plug } from '../plug/plug.ts'
import { finishProperties } from '../plug/properties.ts'
import type { PlugCall } from '../graph/graph.ts'

/** Pieces of source: what is read as x0, x1 ..., what must hold of them, and then the properties. */
export interface FillSource {
  readonly values: readonly string[]
  readonly checks: readonly string[]
  readonly literal: string
}

/** Types whose fitting values are told apart by `typeof`, which also tells that they are no inherited ones. */
const CHECKS: Readonly<Partial<Record<string, (value: string) => string>>> = {
  double: (value) => `typeof ${value} === 'number' && ${value} - ${value} === 0`,
  float: (value) => `typeof ${value} === 'number' && ${value} - ${value} === 0`,
  string: (value) => `typeof ${value} === 'string'`,
  boolean: (value) => `typeof ${value} === 'boolean'`,
}

/**
 * Source that makes the finished properties out of `fixed`, `message` and `rawData` (by position), or sets them to
 * undefined when the general way has to look; undefined when it always has to. `placeOf` gives the position of a called
 * sensor by its label. Nothing of a user's stands in it but keys, as JSON texts.
 */
export function fillSource(
  { plug, properties, constant }: PlugCall,
  placeOf: (label: string) => number | undefined,
): FillSource | undefined {
  const { direct } = properties
  if (direct === undefined || constant !== undefined || plug.prepare !== undefined) return undefined
  if (!isFinishedButReads(plug, direct)) return undefined
  const values: string[] = []
  const checks: string[] = []
  const members = Object.keys(direct.fixed).map((key) => `${JSON.stringify(key)}: fixed[${JSON.stringify(key)}]`)
  for (const [i, read] of direct.reads.entries()) {
    const check = CHECKS[plug.input[read.property]?.type ?? '']
    const place = read.from === 'node' ? placeOf(read.node) : 0
    const isChoice = plug.input[read.property]?.format !== undefined
    if (check === undefined || place === undefined || isChoice || read.key === '__proto__') return undefined
    const source = read.from === 'node' ? `rawData[${place}]?.` : 'message'
    values.push(`${source}[${JSON.stringify(read.key)}]`)
    checks.push(check(`x${i}`))
    members.push(`${JSON.stringify(read.property)}: x${i}`)
  }
  return { values, checks, literal: `{ ${members.join(', ')} }` }
}

/** Whether a finish would change nothing of the fixed properties, nor add to them. */
function isFinishedButReads(plug: Plug, { fixed, reads }: DirectProperties): boolean {
  const { properties } = finishProperties(plug, fixed, new Set(reads.map(({ property }) => property)))
  if (properties === undefined) return false
  const keys = Object.keys(properties)
  return keys.length === Object.keys(fixed).length && keys.every((key) => properties[key] === fixed[key])
}
