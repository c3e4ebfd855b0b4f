/** What counts as true. 1.7 asks for null and false alone; 2.4 takes what is empty or zero for false as well. */
import { isZero } from './arithmetic.ts'
import { Collection } from './collections.ts'
import { JavaMap } from './map.ts'
import { isNumber } from './numbers.ts'
import { Scope } from './scope.ts'
import type { Environment, Value } from './value.ts'

/** Of a reference, by what it stands for. */
export function isTrue(value: Value, environment: Environment): boolean {
  if (value === null) return false
  if (typeof value === 'boolean') return value
  return environment.compat === '1.7' || !isEmpty(value)
}

/** As 2.4 sees it. */
export function isEmpty(value: Value): boolean {
  if (value === null) return true
  if (typeof value === 'string') return value === ''
  if (value instanceof Collection || value instanceof JavaMap) return value.size === 0
  if (value instanceof Scope) return value.storage.size === 0
  return isNumber(value) && isZero(value)
}
