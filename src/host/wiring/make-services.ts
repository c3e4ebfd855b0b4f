/** Makes services of a table, and lets things go one after the other. */
import type { HostedService } from '../hosted-service.ts'
import type { ServiceDependencies, ServiceTable } from './service-dependencies.ts'

/** Those that the options want, in the order of the table. Nothing of them works before their `start`. */
export async function makeServices(table: ServiceTable, parts: ServiceDependencies): Promise<readonly HostedService[]> {
  const made = new Map<string, HostedService>()
  for (const [name, make] of table) {
    if (parts.config.only?.includes(name) === false) continue
    made.set(name, await make(parts))
  }
  return [...made.values()]
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
export function stopping(services: readonly HostedService[]): readonly (() => Promise<void>)[] {
  return services.map((one) => () => one.stop()).reverse()
}
