/** Compiles the sensors that rows evaluate without calling a plug: comparisons and calculations. */
import type { SensorNode } from '../graph/graph.ts'
import type { NodeProperties, RuleProperties } from '../graph/rule-properties.ts'
import type { Steps } from '../plug/plug.ts'
import { parametersIn, sensorFormula, type ParameterType, type SensorFormula } from './sensor-formula.ts'

const MAX_CUTS = 8

/** A comparison without its limits, which differ between tasks. */
export interface SensorSteps {
  readonly parameter: string
  /** index of its first limit among the constants of a task */
  readonly constant: number
  readonly cuts: number
  /** state index for each range, as in `Steps.states` */
  readonly states: readonly number[]
  /** whether values that are not numbers need no call either, as in `Steps.reads` */
  readonly takesTexts: boolean
}

export interface Computed {
  readonly steps: SensorSteps | undefined
  readonly formula: SensorFormula | undefined
}

/** Marks a sensor whose plug is called. */
export const NEITHER: Computed = { steps: undefined, formula: undefined }

/** Returns whether messages call the sensor's plug. */
export function isCalled({ steps, formula }: Computed): boolean {
  return steps === undefined && formula === undefined
}

/** Compiles the sensors, in execution order, and collects the constants that differ between tasks. */
export function computedSensors(
  order: readonly SensorNode[],
  properties: RuleProperties,
): {
  readonly computed: readonly Computed[]
  readonly constants: readonly number[]
} {
  // A called sensor reads results of earlier calls, so the sensors that it reads must be called too.
  const called = new Set<SensorNode>()
  for (;;) {
    const found = computedBut(called, order, properties)
    const read = order.filter((sensor, p) => {
      return found.computed[p]?.formula !== undefined && order.some((other, o) => isReadBy(sensor, other, found, o))
    })
    if (read.length === 0) return found
    for (const sensor of read) called.add(sensor)
  }
}

type Found = ReturnType<typeof computedBut>

function isReadBy({ label }: SensorNode, other: SensorNode, { computed }: Found, position: number): boolean {
  if (!isCalled(computed[position] ?? NEITHER)) return false
  return other.call.uses.some(({ root, segments }) => root === 'nodes' && segments[0] === label)
}

function computedBut(called: ReadonlySet<SensorNode>, order: readonly SensorNode[], properties: RuleProperties) {
  const constants: number[] = []
  const calculated = new Map<string, ReadonlyMap<string, number>>()
  const types = new Map<string, ParameterType>()
  for (const sensor of order) {
    const { parameter } = stepsOf(properties.peek(sensor.call)) ?? {}
    if (parameter !== undefined) types.set(parameter, 'number')
  }
  let numbers = 0
  const computed = order.map((sensor): Computed => {
    const { call, label, states } = sensor
    const nodeProperties = properties.peek(call)
    const steps = stepsOf(nodeProperties)
    if (steps !== undefined) {
      const { parameter, cuts } = steps
      const indexes = steps.states.map((state) => states.indexOf(state))
      const own = {
        parameter,
        constant: constants.length,
        cuts: cuts.length,
        states: indexes,
        takesTexts: steps.reads === 'number',
      }
      constants.push(...cuts)
      return { steps: own, formula: undefined }
    }
    const found = called.has(sensor)
      ? undefined
      : sensorFormula(nodeProperties, states, calculated, numbers, constants.length)
    if (found === undefined || !isOfOneType(types, found.formula)) return NEITHER
    constants.push(...found.constants)
    calculated.set(label, found.names)
    numbers += found.formula.numbers.length
    return { steps: undefined, formula: found.formula }
  })
  return { computed, constants }
}

function isOfOneType(types: Map<string, ParameterType>, formula: SensorFormula): boolean {
  const own = parametersIn(formula)
  const all = new Map([...types, ...own])
  if (own.some(([name, type]) => all.get(name) !== type || (types.get(name) ?? type) !== type)) return false
  for (const [name, type] of own) types.set(name, type)
  return true
}

function stepsOf({ plug, constant }: NodeProperties): Steps | undefined {
  const steps = constant && plug.steps?.(constant)
  if (steps === undefined) return undefined
  const { parameter, cuts, states } = steps
  const isUsable =
    typeof parameter === 'string' &&
    parameter !== '__proto__' &&
    cuts.length >= 1 &&
    cuts.length <= MAX_CUTS &&
    cuts.every((cut, i) => Number.isFinite(cut) && (i === 0 || cut > (cuts[i - 1] ?? cut))) &&
    states.length === 2 * cuts.length + 1 &&
    states.every((state) => plug.states.includes(state))
  return isUsable ? steps : undefined
}
