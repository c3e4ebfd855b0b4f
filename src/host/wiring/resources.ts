/** Connects rules and resources: metadata for placeholders, and the port for plugs. */
import type { PlainObject } from '#core/spi'
import { jsonFault, type Ports, type ResourcePort } from '#core'
import { AppError, type Caller, MAX_HOPS, ownValue } from '#kernel'
import type { ListQuery, ResourceApi, InternalResources } from '#services/resources/contract'

const ENGINE = 'system/engine'
/** Default and maximum number of resources returned to a plug */
const MAX_FOUND = 100

/** Reads metadata of a tenant's resources, synchronously when cached; empty if resources are not served. */
export function metadataOf(
  resources: () => Pick<InternalResources, 'lookup'> | undefined,
): NonNullable<Ports['metadata']> {
  return (resource) => resources()?.lookup(resource)
}

export function resourcePort(tenant: string, resources: () => InternalResources | undefined): ResourcePort {
  const served = (): InternalResources => {
    const service = resources()
    if (service === undefined) throw new AppError('CLOSED', 'this host does not serve resources')
    return service
  }
  const api = (): ResourceApi => served().as({ tenant, user: ENGINE }).resources
  return {
    get: async (id) => served().lookup(id),
    patch: async (id, change, cause) => {
      const fault = jsonFault(change, 'metadata')
      if (fault !== undefined) throw new AppError('VALIDATION', `The change of ${id} is not JSON: ${fault}`)
      const { hops } = cause
      if (hops > MAX_HOPS) {
        throw new AppError(
          'TOO_LARGE',
          `${hops} rules in a row led to this change of ${id}, more than ${MAX_HOPS}; break the loop of rules`,
        )
      }
      return (await api().patch(id, structuredClone(change), { cause })).value
    },
    checkPatch: (change) => resources()?.checkPatch(change) ?? [],
    children: async (id) => (await api().children(id, { limit: MAX_FOUND })).values,
    find: async (query) => {
      const { limit = MAX_FOUND, ...others } = queryOf(query)
      return (await api().list({ ...others, limit })).values
    },
  }
}

export function resourceBatches(resources: Pick<InternalResources, 'as'>) {
  return {
    takes: (body: unknown): boolean => {
      const entity = ownValue(body, 'entity')
      return entity === 'resource' || entity === 'resourcetype'
    },
    queue: (caller: Caller, body: unknown) => resources.as(caller).operations.queue(body),
    get: (caller: Caller, id: string) => resources.as(caller).operations.get(id),
  }
}

function queryOf(query: PlainObject): ListQuery {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value.map(textOf) : textOf(value)]),
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
