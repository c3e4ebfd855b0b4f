/** Own values of a message, read without asking whose they are each time. */
import { ownValue } from '#kernel'

/**
 * An own value of a message. What every object inherits is a function or `__proto__`, so only those need the slow
 * question whose it is.
 */
export function messageValue(values: Readonly<Record<string, unknown>>, key: string): unknown {
  const value = values[key]
  if (typeof value !== 'function' && key !== '__proto__') return value
  return ownValue(values, key)
}
