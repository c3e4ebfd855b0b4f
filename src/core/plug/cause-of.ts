/** Describes to services which rule caused a request. */
import { AppError } from '#kernel'
import type { PlugContext } from './plug.ts'
import type { Cause } from './services.ts'

/** Builds the cause of a request, counting this rule as one more hop. */
export function causeOf(context: Pick<PlugContext, 'task' | 'node' | 'id' | 'hops' | 'root' | 'unordered'>): Cause {
  const { task, node, id, hops, root, unordered } = context
  return {
    task: task.TASK_ID,
    node: node.NAME,
    effect: id,
    ...(node.TRIGGER !== undefined && { trigger: node.TRIGGER }),
    hops: hops + 1,
    ...(root !== undefined && { root }),
    ...(unordered === true && { unordered }),
  }
}

/** Returns the service or throws `PLUG_FAILED`. `name`: name of the host option that provides the service. */
export function requireService<T>(service: T | undefined, name: string): T {
  if (service !== undefined) return service
  throw new AppError(
    'PLUG_FAILED',
    `the service ${name} is missing in this engine; pass it to createBuiltins({ services: { ${name} } })`,
  )
}
