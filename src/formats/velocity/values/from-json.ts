/**
 * JSON as values: objects and lists become so when they are looked into, and what was given is never changed. Whole
 * numbers may be bigints, and objects Maps, whose keys keep any order.
 */
import { JavaList } from './collections.ts'
import { JavaMap } from './map.ts'
import { fromJsonNumber } from './numbers.ts'
import { JavaObject, type Value } from './value.ts'

export function fromJson(json: unknown): Value {
  if (typeof json === 'string' || typeof json === 'boolean') return json
  if (typeof json === 'number') return fromJsonNumber(json)
  if (typeof json === 'bigint') return json
  if (json === null || json === undefined || typeof json !== 'object') return null
  if (json instanceof JavaObject) return json
  if (json instanceof Map) return mapOf(json as ReadonlyMap<string, unknown>)
  return Array.isArray(json)
    ? new JavaList(json, fromJson)
    : new JavaMap(json as Readonly<Record<string, unknown>>, fromJson)
}

function mapOf(json: ReadonlyMap<string, unknown>): JavaMap {
  const map = new JavaMap()
  for (const [key, value] of json) map.put(key, fromJson(value))
  return map
}
