/** Makes the services of a table, and closes what was made in order. */
import type { HostedService } from '../hosted-service.ts'
import type { ServiceDependencies, ServiceTable } from './service-dependencies.ts'

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
