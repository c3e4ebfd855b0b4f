/**
 * Generates gates and triggers over given sensors. The graph is acyclic, because each trigger leads to a later sensor
 * or to an actuator.
 */
import fc from 'fast-check'
import { present } from '#kernel'
import type { Actuator, Relation, Sensor, Trigger } from '#core'

export type StatesOf = (sensor: Sensor) => readonly string[]

const from = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values)

export const gateSeed = fc.record({
  type: from<Relation['type']>('AND', 'OR', 'NAND', 'GENERAL'),
  parents: fc.array(fc.nat(20), { minLength: 1, maxLength: 3 }),
  rows: fc.array(fc.array(fc.nat(5), { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
})

export const triggerSeed = fc.record({
  source: fc.nat(20),
  destination: fc.nat(20),
  kind: from('states', 'change', 'change', 'both', 'execution', 'empty', 'begins', 'ends', 'edges'),
  states: fc.array(fc.nat(5), { minLength: 1, maxLength: 2 }),
  stateFrom: from(-1, -1, 0, 1, 2),
  stateTo: from(-1, 0, 1, 2),
  invocationPolicy: fc.option(from(0, 1, 2, 3, 10), { nil: undefined }),
})

type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never
export type GateSeed = Drawn<typeof gateSeed>
export type TriggerSeed = Drawn<typeof triggerSeed>

export const at = <T>(list: readonly T[], n: number): T => list[n % list.length] as T

/** Generates gates `g0`, `g1` ..., each over sensors and earlier gates. */
export function relationsOf(seeds: readonly GateSeed[], sensors: readonly Sensor[], statesOf: StatesOf): Relation[] {
  const relations: Relation[] = []
  for (const [i, seed] of seeds.entries()) {
    const labels = [...sensors, ...relations].map((node) => node.label)
    const parentLabels = [...new Set(seed.parents.map((n) => at(labels, n)))]
    const rows = (seed.type === 'GENERAL' ? seed.rows : seed.rows.slice(0, 1)).map((row) =>
      parentLabels.map((label, column) => at(sourceStates(label, sensors, statesOf), row[column] ?? 0)),
    )
    const combinations = [...new Map(rows.map((row) => [row.join(), row])).values()]
    relations.push({ label: `g${i}`, type: seed.type, parentLabels, combinations })
  }
  return relations
}

export function triggersOf(
  seeds: readonly TriggerSeed[],
  sensors: readonly Sensor[],
  relations: readonly Relation[],
  actuators: readonly Actuator[],
  statesOf: StatesOf,
): Trigger[] {
  const triggers = seeds.map((seed): Trigger => {
    const sourceLabel = at(
      [...sensors, ...relations].map((node) => node.label),
      seed.source,
    )
    const later = sensors.slice(lastBehind(sourceLabel, sensors, relations) + 1)
    const destinationLabel = at(
      [...later, ...actuators].map((node) => node.label),
      seed.destination,
    )
    const states = sourceStates(sourceLabel, sensors, statesOf)
    const nameOf = (n: number): string => (n < 0 ? '*' : at(states, n))
    const statesTrigger = [...new Set(seed.states.map(nameOf))]
    const stateChangeTrigger = { stateFrom: nameOf(seed.stateFrom), stateTo: nameOf(seed.stateTo) }
    return present({
      sourceLabel,
      destinationLabel,
      invocationPolicy: seed.invocationPolicy,
      statesTrigger: seed.kind === 'empty' ? [] : ['states', 'both'].includes(seed.kind) ? statesTrigger : undefined,
      stateChangeTrigger: ['change', 'both'].includes(seed.kind) ? stateChangeTrigger : undefined,
      begins: ['begins', 'edges'].includes(seed.kind) ? statesTrigger : undefined,
      ends: ['ends', 'edges'].includes(seed.kind) ? statesTrigger : undefined,
    }) as Trigger
  })
  return [...new Map(triggers.map((trigger) => [JSON.stringify(trigger), trigger])).values()]
}

function sourceStates(label: string, sensors: readonly Sensor[], statesOf: StatesOf): readonly string[] {
  const sensor = sensors.find((node) => node.label === label)
  return sensor ? statesOf(sensor) : ['TRUE', 'FALSE']
}

/** Returns the index of the last sensor behind a source, which its destinations must follow. */
function lastBehind(label: string, sensors: readonly Sensor[], relations: readonly Relation[]): number {
  const gate = relations.find((relation) => relation.label === label)
  if (!gate) return sensors.findIndex((sensor) => sensor.label === label)
  return Math.max(...gate.parentLabels.map((parent) => lastBehind(parent, sensors, relations)))
}
