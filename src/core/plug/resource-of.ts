/** The resource that a call is about, as a property names it. */
import { AppError } from '#kernel'
import { parseResource, resolveResource } from '../language/placeholders/resource.ts'
import type { PlugContext } from './plug.ts'

/**
 * The resource that a call is about: the one its property names, as a node would (`$`, `$variable`, `$taskId`), else that
 * of the node, else of the task. `PLUG_FAILED` for none, `RESOLUTION` for a placeholder that stands for nothing.
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
      // a property that reads metadata was resolved before the call
      metadata: () => undefined,
    })
  }
  const resource = node.RESOURCE ?? task.RESOURCE
  if (resource !== undefined && resource !== '') return resource
  throw new AppError('PLUG_FAILED', 'there is no resource; set the property resource, or one of the node or task')
}
