/** Prints values as Java does. */
import { numberText } from './numbers.ts'
import type { Environment, Value } from './value.ts'

export function textOf(value: Value, environment: Environment): string | null {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return numberText(value)
  if (value === null) return null
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  return typeof value === 'bigint' ? value.toString() : value.textIn(environment)
}

export function shownText(value: Value, environment: Environment): string {
  return textOf(value, environment) ?? 'null'
}
