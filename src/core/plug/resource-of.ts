/** Resource of a call, as a property names it. */
import { AppError } from '#kernel'
import { parseResource, resolveResource } from '../language/placeholders/resource.ts'
import type { PlugContext } from './plug.ts'

/** Declaration of a property for `resourceOf`, without its description. */
export const RESOURCE_INPUT = { type: 'string', format: { type: 'resource' }, example: 'boiler-1' } as const

/**
 * Resource that the property names, as a node would (`$`, `$variable`, `$taskId`), else that of the node, else of the
 * task. Throws `PLUG_FAILED` without one, `RESOLUTION` for an unresolvable placeholder.
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
      // properties that read metadata were resolved before the call
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
