/** Determines which message fields rows read, and generates the source text that reads and compares them. */
import { countIn, isExact, ofData } from '#kernel'
import type { BatchShape } from './batch-shape.ts'
import type { SensorSteps } from './computed-sensors.ts'
import { parametersIn, type ParameterType } from './sensor-formula.ts'

/**
 * Generates code that yields zero for an exact number (`isExact`) and NaN otherwise: 2^53 times this factor overflows
 * to infinity.
 */
function exactSource(value: string): string {
  return `0 * (${value} * ${2 ** 971})`
}

/**
 * Generates code that reads fields of `message` into variables, and runs `leave` when one does not have its type
 * (`isOfType`).
 */
export function readSource(
  values: readonly { readonly value: string; readonly name: string }[],
  types: ReadonlyMap<string, ParameterType>,
  otherwise: string,
): readonly string[] {
  if (values.length === 0) return []
  const numbers = values.filter(({ name }) => types.get(name) === 'number')
  const others = [
    ...values.map(({ value, name }) => `typeof ${value} !== '${types.get(name)}'`),
    // the sum is zero only if each term is
    ...(numbers.length === 0 ? [] : [`${numbers.map(({ value }) => exactSource(value)).join(' + ')} !== 0`]),
  ]
  return [
    ...values.map(({ value, name }) => `const ${value} = message[${JSON.stringify(name)}]`),
    `if (${others.join(' || ')}) ${otherwise}`,
  ]
}

/**
 * Generates arithmetic that turns a value into a state index, from how many limits it reaches and exceeds. A branch
 * would often be mispredicted. `parameters`: the values v0, v1 ...; `limit`: where each constant is stored
 */
export function stepsSource(
  steps: SensorSteps,
  parameters: readonly string[],
  limit: (constant: number) => string,
): string {
  const range = rangeSource(steps, parameters, limit)
  const { states } = steps
  if (states.every((state, i) => state === i)) return range
  return `${JSON.stringify(String.fromCharCode(...states))}.charCodeAt(${range})`
}

/** Generates code that counts the limits that a value reaches and exceeds. */
export function rangeSource(
  { parameter, constant, cuts }: SensorSteps,
  parameters: readonly string[],
  limit: (constant: number) => string,
): string {
  const value = `v${parameters.indexOf(parameter)}`
  const places = Array.from({ length: cuts }, (_, i) => limit(constant + i))
  return places.map((cut) => `(${value} >= ${cut} | 0) + (${value} > ${cut} | 0)`).join(' + ')
}

/** Returns the fields that rows of a shape compare or calculate with. */
export function parametersOf(shape: Pick<BatchShape, 'sensors'>): readonly string[] {
  return [...typesOf(shape).keys()]
}

/** Returns these fields with the required type of each. */
export function typesOf({ sensors }: Pick<BatchShape, 'sensors'>): ReadonlyMap<string, ParameterType> {
  return new Map(
    sensors.flatMap(({ steps, formula }): readonly (readonly [string, ParameterType])[] =>
      steps ? [[steps.parameter, 'number']] : formula ? parametersIn(formula) : [],
    ),
  )
}

export function isOfType(value: unknown, type: ParameterType | undefined): boolean {
  return typeof value === type && (type !== 'number' || isExact(value as number))
}

/** Same as `number` of a context that also converts booleans; NaN if conversion fails. Undefined: ask the plug. */
export function numberIn(value: unknown, takesTexts: boolean): number | undefined {
  if (typeof value === 'number' && isExact(value)) return value
  return takesTexts && value !== undefined ? (countIn(ofData(value)) ?? Number.NaN) : undefined
}
