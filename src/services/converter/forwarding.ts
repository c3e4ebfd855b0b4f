/** Forwards results: to the broker in one post, and to the resources in one change each. */
import { AppError, type Caller, isPlainObject, type Json, type JsonObject, messageOf } from '#kernel'
import type { InternalBroker, PostOptions } from '#services/broker/contract'
import type { InternalResources, ResourcesService } from '#services/resources/contract'
import { requireOwn } from '#services/shared'
import type { Converted, ConvertedEntry, Tested } from './converter-schema.ts'

export interface Neighbours {
  readonly broker: () => InternalBroker | undefined
  readonly resources: () => (ResourcesService & Pick<InternalResources, 'lookup'>) | undefined
}

const UNRESOLVED = /^\$!?\{?[A-Za-z_][\w.-]*/
/** Errors of the broker that the sender receives unchanged. */
const PASSED_ON = new Set(['FORBIDDEN', 'RATE_LIMITED', 'CONFLICT', 'UNAVAILABLE', 'CLOSED', 'TOO_LARGE'])

/**
 * Resolves once everything is durable. Throws `CONVERSION` for content that the broker or the resources reject,
 * `RATE_LIMITED`, `CONFLICT`, or `FORWARDING`. With the same key, content is not forwarded twice. While waiting, only
 * the attributes of `converted` stay in memory.
 */
export async function forward(
  { broker, resources }: Neighbours,
  caller: Caller,
  converted: Converted,
  posting: Pick<PostOptions, 'idempotencyKey' | 'identityIgnores'>,
): Promise<void> {
  const { metrics } = converted
  refuseUnresolved(converted)
  const changes = attributesByResource(converted)
  const { rights } = caller
  if (rights?.resources !== undefined) {
    const named = [...changes.keys()].map((resource, i) => ({ path: `/metadata/${i}/resource`, resource }))
    await requireOwn(rights.resources, named, (id) => needed(resources(), 'resources').lookup(id))
  }
  // devices do not read errors, so a bad time is replaced with the time of receipt
  const options = { ...posting, badTime: 'receipt' } as const
  const posted =
    metrics.length === 0
      ? undefined
      : handOver('/metrics', needed(broker(), 'broker').as(caller).posting.events(undefined, metrics, options))
  return changes.size === 0 ? posted : change(resources, caller, changes, posted)
}

async function change(
  resources: Neighbours['resources'],
  caller: Caller,
  changes: ReadonlyMap<string, JsonObject>,
  posted: Promise<void> | undefined,
): Promise<void> {
  await posted
  for (const [resource, attributes] of changes) {
    const api = needed(resources(), 'resources').as(caller).resources
    await handOver('/metadata', api.patch(resource, attributes))
  }
}

/** Rejects a template reference that was left unresolved, since it is not an id. */
export function refuseUnresolved({ metrics, metadata = [] }: Converted): void {
  for (const entries of [metrics, metadata]) {
    for (const { resource } of entries) {
      if (!resource.startsWith('$') || !UNRESOLVED.test(resource)) continue
      const shown = resource.slice(0, 200)
      throw new AppError('CONVERSION', `the resource is "${shown}": the reference is unresolved`)
    }
  }
}

function needed<Service>(service: Service | undefined, name: string): Service {
  if (service === undefined)
    throw new AppError('FORWARDING', `this host does not serve ${name}, so the result cannot be forwarded`)
  return service
}

async function handOver(part: string, work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (error instanceof AppError && PASSED_ON.has(error.code)) throw error
    if (!(error instanceof AppError) || error.status >= 500) {
      throw new AppError('FORWARDING', `the result could not be stored: ${messageOf(error)}`, { cause: error })
    }
    const issues = error.issues.map(({ fix: _fix, ...issue }) => ({ ...issue, path: `${part}${issue.path}` }))
    throw new AppError('CONVERSION', `the result was rejected: ${error.message}`, { issues, cause: error })
  }
}

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

function attributesByResource({ metadata = [] }: Converted): ReadonlyMap<string, JsonObject> {
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
