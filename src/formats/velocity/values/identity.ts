/** Implements Java's `equals` and `hashCode`. */
import { JavaObject, type Environment, type Value } from './value.ts'

/** Compares as Java does: null equals only null, and a number only equals numbers of its class. */
export function areEqual(left: Value, right: Value, environment: Environment): boolean {
  if (left === right) return true
  if (!(left instanceof JavaObject) || !(right instanceof JavaObject)) return false
  return nested(environment, () => left.equalsIn(right, environment))
}

export function hashOf(value: Value, environment: Environment): number {
  if (value === null) return 0
  if (typeof value === 'string') return textHash(value)
  if (typeof value === 'boolean') return value ? 1231 : 1237
  if (value instanceof JavaObject) return nested(environment, () => value.hashIn(environment))
  if (typeof value === 'number' && !Number.isInteger(value)) return doubleHash(value)
  if (typeof value === 'number' && value === (value | 0)) return value
  const bits = BigInt.asUintN(64, BigInt(value))
  return Number(BigInt.asIntN(32, bits ^ (bits >> 32n)))
}

export function textHash(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(31, hash) + text.charCodeAt(i)) | 0
  return hash
}

export function doubleHash(value: number): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  return view.getInt32(0) ^ view.getInt32(4)
}

function nested<T>({ budget }: Environment, look: () => T): T {
  budget.spend(1)
  budget.enter()
  const found = look()
  budget.leave()
  return found
}
