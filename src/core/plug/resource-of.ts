import { AppError } from '../../kernel/errors.ts'
import type { PlugContext } from './plug.ts'

/** The resource that a call is about: the one it names, else that of the node, else of the task. `PLUG_FAILED` for none. */
export function resourceOf(
  context: Pick<PlugContext<{ readonly resource?: string | undefined }>, 'properties' | 'node' | 'task'>,
): string {
  const { properties, node, task } = context
  const resource = properties.resource ?? node.RESOURCE ?? task.RESOURCE
  if (resource !== undefined && resource !== '') return resource
  throw new AppError('PLUG_FAILED', 'there is no resource; set the property resource, or one of the node or task')
}
