/** Hands what was converted to the broker, in one post, and to the resources, in one change of each. */
import type { Caller } from '../../kernel/caller.ts'
import { AppError, messageOf } from '../../kernel/errors.ts'
import type { BrokerService } from '../broker/contract.ts'
import type { ResourcesService } from '../resources/contract.ts'
import type { Converted } from './contract.ts'
import { attributesByResource } from './stored.ts'

export interface Neighbours {
  /** Asked when they are needed: they may be made later, or not at all. */
  readonly broker: () => BrokerService | undefined
  readonly resources: () => ResourcesService | undefined
}

const UNRESOLVED = /^\$!?\{?[A-Za-z_][\w.-]*/
/** Refusals of the broker that are for who sends, and come again as they are. */
const PASSED_ON = new Set(['RATE_LIMITED', 'CONFLICT', 'UNAVAILABLE', 'CLOSED', 'TOO_LARGE'])

/**
 * Resolves when all of it is durable. Throws `CONVERSION` for what the broker or the resources refuse for its own sake,
 * `RATE_LIMITED`, `CONFLICT`, or `FORWARDING`. With the same key, what was forwarded before is not forwarded again.
 */
export async function forward(
  { broker, resources }: Neighbours,
  caller: Caller,
  converted: Converted,
  key: string | undefined,
): Promise<void> {
  const { metrics } = converted
  refuseUnresolved(converted)
  if (metrics.length > 0) {
    const posting = needed(broker(), 'broker').as(caller).posting
    await handOver('/metrics', () =>
      posting.events(undefined, metrics, key === undefined ? {} : { idempotencyKey: key }),
    )
  }
  for (const [resource, attributes] of attributesByResource(converted)) {
    const api = needed(resources(), 'resources').as(caller).resources
    await handOver('/metadata', () => api.patch(resource, attributes))
  }
}

/** A reference that nothing was found for is left as it was written: it is the id of nothing. */
function refuseUnresolved({ metrics, metadata = [] }: Converted): void {
  for (const { resource } of [...metrics, ...metadata]) {
    if (!UNRESOLVED.test(resource)) continue
    throw new AppError('CONVERSION', `the resource is "${resource.slice(0, 200)}": nothing was found for the reference`)
  }
}

function needed<Service>(service: Service | undefined, name: string): Service {
  if (service === undefined) throw new AppError('FORWARDING', `this host serves no ${name}; nothing can be forwarded`)
  return service
}

async function handOver(part: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof AppError && PASSED_ON.has(error.code)) throw error
    if (!(error instanceof AppError) || error.status >= 500) {
      throw new AppError('FORWARDING', `what was converted is not stored: ${messageOf(error)}`, { cause: error })
    }
    const issues = error.issues.map((issue) => ({ ...issue, path: `${part}${issue.path}` }))
    throw new AppError('CONVERSION', `what was converted is refused: ${error.message}`, { issues, cause: error })
  }
}
