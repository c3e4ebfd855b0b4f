/** Generates random rules over given plugs. */
import fc from 'fast-check'
import {
  type Actuator,
  createRegistry,
  type InputField,
  type Plug,
  type Rule,
  type Sensor,
  type TaskSettings,
  validateRule,
} from '#core'
import { present } from '#kernel'
import { gateSeed, relationsOf, triggerSeed, triggersOf } from './graph.ts'

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
