/** Reads own values of a message fast. */
import { ownValue } from '#kernel'

/** Inherited members are functions or `__proto__`, so only these need the slow check of ownership. */
export function messageValue(values: Readonly<Record<string, unknown>>, key: string): unknown {
  const value = values[key]
  if (typeof value !== 'function' && key !== '__proto__') return value
  return ownValue(values, key)
}
