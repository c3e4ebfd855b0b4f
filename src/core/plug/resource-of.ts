/** Determines the resource that a call acts on, from its `resource` property. */
import { AppError } from '#kernel'
import { parseResource, resolveResource } from '../language/placeholders/resource.ts'
import type { PlugContext } from './plug.ts'

/** Declares the property that `resourceOf` reads; add a description. */
export const RESOURCE_INPUT = { type: 'string', format: { type: 'resource' }, example: 'boiler-1' } as const

/**
 * Returns the resource that the property names, written as in a node (`$`, `$variable`, `$taskId`), else the node's
 * resource, else the task's. Throws `PLUG_FAILED` if all are absent, `RESOLUTION` for an unresolvable placeholder.
 */
export function resourceOf(
  context: Pick<PlugContext<{ readonly resource?: string | undefined }>, 'properties' | 'node' | 'task' | 'lookup'>,
): string {
  const { properties, node, task } = context
  const named = properties.resource ?? ''
  if (named !== '') {
    return resolveResource(parseResource(named), {
      taskId: task.TASK_ID,
      taskResource: task.RESOURCE,
      variable: (name) => context.lookup(['variables', name]),
      // metadata placeholders were resolved before the call
      metadata: () => undefined,
    })
  }
  const resource = node.RESOURCE ?? task.RESOURCE
  if (resource !== undefined && resource !== '') return resource
  throw new AppError(
    'PLUG_FAILED',
    'the resource is missing; set the property resource, or the resource of the node or task',
  )
}
