/**
 * A service of a host in a cluster as its routes see it: each call goes to the services of the tenant that it is about,
 * which this host has open. What is about no tenant is answered by a service that has none.
 */
import { readPartitionName } from '#cluster'
import type { ServiceRegistry } from '../wiring/service-registry.ts'

export interface ReachTenants {
  /** The services of a tenant, or of one of its partitions (`unitName`). Throws `FENCED` when it is not open here. */
  of(tenant: string): ServiceRegistry
  /** Whether it is known that no host has anything of that name: whoever asks without credentials may name any. */
  isNobodys(tenant: string): boolean
  /** of all tenants that are open here */
  all(): Iterable<ServiceRegistry>
}

/** Methods that name the tenant by a text before all else; others name it as the member `tenant` of their first argument. */
export const TENANT_FIRST: ReadonlySet<PropertyKey> = new Set([
  'answer',
  'call',
  'callWebscript',
  'changes',
  'cpuMs',
  'discover',
  'follow',
  'hasTenant',
  'importing',
  'inside',
  'lookup',
  'open',
  'plugs',
  'readable',
  'rebind',
  'webscripts',
])
/** Methods that find out whose something is: whoever knows it answers. */
const FINDS: ReadonlySet<PropertyKey> = new Set(['webscriptOf'])

export function reachTenant<S extends object>(name: keyof ServiceRegistry, own: S, tenants: ReachTenants): S {
  return new Proxy(own, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member)
      if (typeof value !== 'function') return value
      return (...given: readonly unknown[]): unknown => {
        if (FINDS.has(member)) return firstAnswer(tenants.all(), name, member, given)
        const [first, ...others] = given
        const partition = tenantIn(first, TENANT_FIRST.has(member))
        if (partition === undefined || tenants.isNobodys(partition)) return call(target, member, given)
        const { tenant } = readPartitionName(partition)
        const named =
          tenant === partition ? first : typeof first === 'string' ? tenant : { ...(first as object), tenant }
        return call(tenants.of(partition)[name], member, [named, ...others])
      }
    },
  })
}

function tenantIn(first: unknown, isText: boolean): string | undefined {
  if (typeof first === 'string') return isText ? first : undefined
  if (typeof first !== 'object' || first === null || !('tenant' in first)) return undefined
  return typeof first.tenant === 'string' ? first.tenant : undefined
}

function firstAnswer(
  all: Iterable<ServiceRegistry>,
  name: keyof ServiceRegistry,
  member: PropertyKey,
  given: readonly unknown[],
): unknown {
  for (const registry of all) {
    const answer = call(registry[name], member, given)
    if (answer !== undefined) return answer
  }
  return undefined
}

function call(service: object | undefined, member: PropertyKey, given: readonly unknown[]): unknown {
  if (service === undefined) return undefined
  const method = Reflect.get(service, member) as (...given: readonly unknown[]) => unknown
  return Reflect.apply(method, service, given)
}
