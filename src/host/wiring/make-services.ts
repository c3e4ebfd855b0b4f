/** Creates the services of a table, and closes parts in order. */
import type { HostedService } from '../hosted-service.ts'
import type { ServiceDependencies, ServiceTable } from './service-dependencies.ts'

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

/** Runs all steps in sequence, even after a failure, then throws the first failure. */
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
