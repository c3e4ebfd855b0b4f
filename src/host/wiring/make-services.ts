/** Makes services of a table and what a tenant has of them, and lets things go one after the other. */
import type { HostedService } from '../hosted-service.ts'
import type { ServiceDependencies, ServiceTable } from './service-dependencies.ts'
import type { ServiceRegistry } from './service-registry.ts'
import type { SharedDependencies, SharedService, TenantDependencies } from './tenant-service.ts'

/** Those that the options want, in the order of the table. Nothing of them works before their `start`. */
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

/** What tenants share of the services, in their order. Nothing of it works before its `start`. */
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

/** What one tenant has of the services for itself. */
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

/** What stops services in the order opposite to that of their making. */
export function stopping(services: readonly Pick<HostedService, 'stop'>[]): readonly (() => void | Promise<void>)[] {
  return services.map((one) => () => one.stop?.()).reverse()
}
