/** Generates random rules over given plugs. */
import fc from 'fast-check'
import {
  type Actuator,
  createRegistry,
  type InputField,
  type Plug,
  type Relation,
  type Rule,
  type Sensor,
  type TaskSettings,
  type Trigger,
  validateRule,
} from '#core'
import { present } from '#kernel'

export interface RandomRules {
  /** at least one sensor and one actuator */
  readonly plugs: readonly Plug[]
  /**
   * properties of each plug, by its name. Default from its declaration: the example, the default, or a value of the
   * type
   */
  readonly properties?: Readonly<Record<string, fc.Arbitrary<Record<string, unknown>>>>
  /** resources of nodes; default: only the task's resource */
  readonly resources?: readonly string[]
  /** default 4 */
  readonly maxSensors?: number
  /** default: reactive */
  readonly task?: fc.Arbitrary<TaskSettings>
}

/** Generates valid rules over given plugs: sensors, gates, triggers and actuators, without cycles. */
export function randomRules(options: RandomRules): fc.Arbitrary<Rule> {
  const { plugs, maxSensors = 4, resources = [] } = options
  const registry = createRegistry(plugs)
  const ofKind = (kind: Plug['kind']) => plugs.filter((plug) => plug.kind === kind)
  const node = (kind: Plug['kind']) =>
    fc
      .constantFrom(...ofKind(kind))
      .chain((plug) => fc.record({ plug: fc.constant(plug), properties: propertiesOf(plug, options) }))
  const resource = fc.constantFrom('$', ...resources)
  const seed = fc.record({
    sensors: fc.array(fc.record({ node: node('sensor'), resource }), { minLength: 1, maxLength: maxSensors }),
    actuators: fc.array(node('actuator'), { minLength: 1, maxLength: 2 }),
    gates: fc.array(gateSeed, { maxLength: 3 }),
    triggers: fc.array(triggerSeed, { minLength: 1, maxLength: 4 }),
    task: options.task ?? fc.constant({}),
  })
  const rules = seed.map((plan): Rule => {
    const sensors = plan.sensors.map((one, i): Sensor => ({
      label: `s${i}`,
      name: one.node.plug.name,
      properties: one.node.properties,
      resource: one.resource,
    }))
    const statesOf = ({ label }: Sensor): readonly string[] => {
      const states = plan.sensors[Number(label.slice(1))]?.node.plug.states ?? []
      return states.length > 0 ? states : ['*']
    }
    const actuators = plan.actuators.map(({ plug, properties }, i): Actuator => ({
      label: `a${i}`,
      name: plug.name,
      properties,
    }))
    const relations = relationsOf(plan.gates, sensors, statesOf)
    const triggers = triggersOf(plan.triggers, sensors, relations, actuators, statesOf)
    return { sensors, relations, actuators, triggers, task: { resource: resources[0] ?? 'r1', ...present(plan.task) } }
  })
  return rules.filter((rule) => validateRule(rule, registry).rule !== undefined)
}

function propertiesOf(plug: Plug, { properties }: RandomRules): fc.Arbitrary<Record<string, unknown>> {
  const overridden = properties?.[plug.name]
  if (overridden) return overridden
  const fields = Object.entries(plug.input).map(([name, field]) => [name, valueOf(field)] as const)
  const needed = Object.entries(plug.input).flatMap(([name, { mandatory }]) => (mandatory === true ? [name] : []))
  return fc.record(Object.fromEntries(fields), { requiredKeys: needed })
}

function valueOf({ example, defaultValue, format, type }: InputField): fc.Arbitrary<unknown> {
  if (format?.values && format.values.length > 0) return fc.constantFrom(...format.values)
  const known = [example, defaultValue].filter((value) => value !== undefined)
  if (known.length > 0) return fc.constantFrom(...known)
  switch (type) {
    case 'boolean':
      return fc.boolean()
    case 'integer':
    case 'long':
      return fc.nat(10)
    case 'float':
    case 'double':
      return fc.integer({ min: -100, max: 1000 }).map((n) => n / 10)
    case 'array':
      return fc.constant([])
    case 'object':
      return fc.constant({})
    default:
      return fc.constant('a')
  }
}

/**
 * Generates gates and triggers over given sensors. The graph is acyclic, because each trigger leads to a later sensor
 * or to an actuator.
 */
type StatesOf = (sensor: Sensor) => readonly string[]

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
type GateSeed = Drawn<typeof gateSeed>
type TriggerSeed = Drawn<typeof triggerSeed>

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
