/** Makes the services of a table and of a tenant, and closes them in order. */
import type { HostedService } from '../hosted-service.ts'
import type { ServiceDependencies, ServiceTable } from './service-dependencies.ts'
import type { ServiceRegistry } from './service-registry.ts'
import type { SharedDependencies, SharedService, TenantDependencies } from './tenant-service.ts'

/** The services that the options select, in the order of the table. None works before its `start`. */
export async function makeServices(
  table: ServiceTable,
  dependencies: Omit<ServiceDependencies, 'serves'>,
): Promise<readonly HostedService[]> {
  const { only } = dependencies.config
  const serves = (name: string): boolean => table.has(name) && only?.includes(name) !== false
  const made: HostedService[] = []
  for (const [name, make] of table) if (serves(name)) made.push(await make({ ...dependencies, serves }))
  return made
}

export interface OpenedService extends SharedService {
  readonly name: string
}

/** The shared services, in order. None works before its `start`. */
export function openShared(services: readonly HostedService[], parts: SharedDependencies): readonly OpenedService[] {
  return services.flatMap((one) => {
    const opened = one.openShared?.(parts)
    if (opened === undefined) return []
    const { name } = one
    const { trouble, warnings } = opened
    return {
      name,
      ...(trouble && { trouble }),
      ...(warnings && { warnings }),
      start: async (closing) => opened.start?.(closing),
      stop: () => opened.stop?.(),
    }
  })
}

/** The services of one tenant. */
export function openOwn(services: readonly HostedService[], parts: TenantDependencies): ServiceRegistry {
  return Object.assign({}, ...services.map((one) => one.open?.(parts))) as ServiceRegistry
}

/** One after the other, all of them; the first failure is thrown at the end. */
export async function closeAll(steps: readonly (() => void | Promise<void>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0] as Error
}

/** Steps that stop the services in reverse order. */
export function stopping(services: readonly Pick<HostedService, 'stop'>[]): readonly (() => void | Promise<void>)[] {
  return services.map((one) => () => one.stop?.()).reverse()
}
