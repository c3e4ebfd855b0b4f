/** Forwards results: to the broker in one post, and to the resources in one change each. */
import { AppError, type Caller, type JsonObject, messageOf } from '#kernel'
import { requireOwn } from '#services/shared'
import type { InternalBroker, PostOptions } from '#services/broker/contract'
import type { InternalResources, ResourcesService } from '#services/resources/contract'
import type { Converted } from './converter-schema.ts'
import { attributesByResource } from './stored.ts'

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
