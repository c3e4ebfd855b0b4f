/** Previews what a conversion would store, with warnings. */
import { isPlainObject, type Json, type JsonObject } from '#kernel'
import type { Converted, ConvertedEntry, Tested } from './converter-schema.ts'

const NUMBER = /^\s*[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\s*$/
const REFERENCE = /\$!?\{?[A-Za-z_]/
const MAX_WARNINGS = 50

/** `refusals`: problems that the broker would report about the metrics, one per line. */
export function previewOf(converted: Converted, refusals: readonly string[]): Tested {
  const { metrics } = converted
  const samples = metrics.flatMap(samplesOf)
  return {
    ...converted,
    stored: { samples, metadata: Object.fromEntries(attributesByResource(converted)) },
    warnings: [...refusals, ...repeated(metrics), ...metrics.flatMap(oddValues)].slice(0, MAX_WARNINGS),
  }
}

export function attributesByResource({ metadata = [] }: Converted): ReadonlyMap<string, JsonObject> {
  const byResource = new Map<string, JsonObject>()
  for (const { resource, ...attributes } of metadata) {
    byResource.set(resource, { ...byResource.get(resource), ...attributes })
  }
  return byResource
}

function samplesOf({ resource, timestamp: _timestamp, ...metrics }: ConvertedEntry): Tested['stored']['samples'] {
  return Object.entries(metrics)
    .filter(([, value]) => isSample(value))
    .map(([metric, value]) => ({ resource, metric, value }))
}

/** True for a value stored as a sample; objects, lists and null are stored with the message only. */
function isSample(value: Json): boolean {
  return typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean'
}

function oddValues({ resource, timestamp, ...metrics }: ConvertedEntry, i: number): readonly string[] {
  const warnings: string[] = []
  if (typeof timestamp === 'string' && NUMBER.test(timestamp)) {
    warnings.push(`/metrics/${i}/timestamp is a text; remove the quotes`)
  }
  if (REFERENCE.test(resource)) {
    warnings.push(`/metrics/${i}/resource is "${resource}": the reference is unresolved`)
  }
  for (const [metric, value] of Object.entries(metrics)) {
    const path = `/metrics/${i}/${metric}`
    if (typeof value === 'string' && NUMBER.test(value)) {
      warnings.push(`${path} is the text "${value}" instead of a number; remove the quotes`)
    } else if (typeof value === 'string' && REFERENCE.test(value)) {
      warnings.push(`${path} is "${value}": the reference is unresolved`)
    } else if (value === null || isPlainObject(value) || Array.isArray(value)) {
      warnings.push(`${path} is not a number, text or boolean, and is stored with the message only`)
    }
  }
  return warnings
}

function repeated(metrics: Converted['metrics']): readonly string[] {
  const seen = new Set<string>()
  for (const { resource } of metrics) {
    if (seen.has(resource)) {
      return [`several entries have the resource "${resource}": they are stored without notifying rules; merge them`]
    }
    seen.add(resource)
  }
  return []
}
