/** Tasks of others may never answer: nobody waits for them for ever. */
import { AppError, type StartTimer } from '#kernel'
import type { ManagedTasks } from '../contract.ts'

/** ms that one call may take; usually it is some milliseconds, also when many are made */
const LONGEST_MS = 30_000

/**
 * The same tasks, whose calls reject with `TIMED_OUT` when they are not answered in time. `late` is told the resource
 * of a task that was made after all: by then there may be another in its place.
 */
export function tasksInTime(tasks: ManagedTasks, later: StartTimer, late: (resource: string) => void): ManagedTasks {
  return {
    of: (tenant, resources) => inTime(tasks.of(tenant, resources), 'looked for', later),
    make: (tenant, wanted) => inTime(tasks.make(tenant, wanted), 'made', later, () => late(wanted.resource)),
    remove: (tenant, taskId) => inTime(tasks.remove(tenant, taskId), 'removed', later),
    rebind: async (tenant, resource) => {
      const bound = tasks.rebind?.(tenant, resource)
      if (bound !== undefined) await inTime(bound, 'bound anew', later)
    },
  }
}

function inTime<T>(answer: Promise<T>, what: string, later: StartTimer, late?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false
    const end = later(LONGEST_MS, () => {
      isLate = true
      reject(new AppError('TIMED_OUT', `managed tasks were not ${what} within ${LONGEST_MS / 1000} s`))
    })
    answer.then(
      (value) => {
        end()
        resolve(value)
        if (isLate) late?.()
      },
      (error: unknown) => {
        end()
        reject(error)
      },
    )
  })
}
