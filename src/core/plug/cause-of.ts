/** What services are told of the rule that asks them. */
import { AppError } from '#kernel'
import type { PlugContext } from './plug.ts'
import type { Cause } from './services.ts'

/** What a service is told about the call that asks it: this rule is one more in the row. */
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

/** The service that a plug was given. `PLUG_FAILED` when there is none; `name` is that of the option. */
export function requireService<T>(service: T | undefined, name: string): T {
  if (service !== undefined) return service
  throw new AppError(
    'PLUG_FAILED',
    `this engine has no ${name}; give them with createBuiltins({ services: { ${name} } })`,
  )
}
