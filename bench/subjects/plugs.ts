/** Plugs of the workloads. */
import { definePlug, type Plug } from '../../src/plug.ts'
import { comparedNextTurn } from './next-turn.ts'
import type { Things } from './things.ts'

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

export const nextTurnSensor = definePlug({
  name: 'nextTurnSensor',
  version: '1.0.0',
  kind: 'sensor',
  states: ['NotAbove', 'Above'],
  input: {
    parameter: { type: 'string', mandatory: true },
    threshold: { type: 'double', mandatory: true },
  },
  execute(context) {
    const { parameter, threshold } = context.properties
    return comparedNextTurn(Number(context.streamValue(parameter)), threshold)
  },
})

/** The sensor of the chain workload: one step, with its value as raw data. */
export const chainStep = definePlug({
  name: 'chainStep',
  version: '1.0.0',
  kind: 'sensor',
  states: ['Low', 'High'],
  input: {
    value: { type: 'double', mandatory: true },
    factor: { type: 'double', mandatory: true },
    offset: { type: 'double', mandatory: true },
    limit: { type: 'double', mandatory: true },
  },
  output: { value: { type: 'double' } },
  calculates: {
    rawData: { value: 'value * factor + offset' },
    states: { High: 'rawData.value > limit' },
    otherwise: 'Low',
  },
  execute({ properties }) {
    const value = properties.value * properties.factor + properties.offset
    return { state: value > properties.limit ? 'High' : 'Low', rawData: { value } }
  },
})

/** The actuators of W7. Both touch the resource of their task. */
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
