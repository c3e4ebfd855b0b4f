/** Plain JSON values, as stored and sent over the network. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** Object keys that can reach a prototype; rejected wherever outside text becomes a key. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** True for objects from a literal or JSON.parse; false for arrays, null, dates and class instances. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
}

export function present<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}

export function ownValue(container: unknown, key: string): unknown {
  if (typeof container !== 'object' || container === null) return undefined
  return Object.hasOwn(container, key) ? (container as Record<string, unknown>)[key] : undefined
}

export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>]
  const keys = Object.keys(left)
  if (keys.length !== Object.keys(right).length) return false
  return keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
}

/** Compares two values by their JSON text, including key order. `b` comes from JSON.parse; `a` may be anything. */
export function haveSameText(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof b !== 'object' || b === null || typeof a !== 'object' || a === null) return false
  if (Array.isArray(b)) return Array.isArray(a) && areSameTexts(a, b)
  if (!isPlainObject(a)) return false
  const keys = Object.keys(a)
  let i = 0
  for (const key in b) if (keys[i++] !== key || !haveSameText(a[key], (b as JsonObject)[key])) return false
  return i === keys.length
}

function areSameTexts(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < b.length; i++) if (!haveSameText(a[i], b[i])) return false
  return true
}

export function hasKeysOf(a: object, b: object): boolean {
  const keys = Object.keys(a)
  let i = 0
  for (const key in b) if (keys[i++] !== key) return false
  return i === keys.length
}

/** JSON text of a checked value, so that it is serialized only once. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}
