/** The actuator of all workloads: it counts. */
import { definePlug } from '../../src/plug.ts'

export function countPlug() {
  let calls = 0
  const plug = definePlug({
    name: 'count',
    version: '1.0.0',
    kind: 'actuator',
    execute() {
      calls++
    },
  })
  return { plug, counted: () => calls }
}
