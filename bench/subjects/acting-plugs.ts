/** The actuators of W7, as plugs. Both touch the resource of their task. */
import { definePlug, type Plug } from '../../src/plug.ts'
import type { Things } from './things.ts'

export function actingPlugs(things: Things): readonly Plug[] {
  const shared = {
    version: '1.0.0',
    kind: 'actuator',
    input: { value: { type: 'double', mandatory: true } },
    touches: (_properties: unknown, { resource = '' }: { readonly resource?: string | undefined }) => [resource],
  } as const
  return [
    definePlug({
      ...shared,
      name: 'note',
      execute: ({ task, properties }) => things.note(task.RESOURCE ?? '', properties.value),
    }),
    definePlug({
      ...shared,
      name: 'tell',
      execute: ({ task, properties }) => things.tell(task.RESOURCE ?? '', properties.value),
    }),
  ]
}
