/** Generates source text that reads message values and compares them with limits, for all generated code of a shape. */
import type { SensorSteps } from './computed-sensors.ts'
import type { ParameterType } from './sensor-formula.ts'

/** Yields zero for an exact number and NaN otherwise: 2^53 times this factor overflows to infinity. */
function exactSource(value: string): string {
  return `0 * (${value} * ${2 ** 971})`
}

/** Runs `leave` when a field does not have its type (`isOfType`). */
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

/** Arithmetic, because a branch would often be mispredicted. `limit`: where each constant is stored. */
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

export function rangeSource(
  { parameter, constant, cuts }: SensorSteps,
  parameters: readonly string[],
  limit: (constant: number) => string,
): string {
  const value = `v${parameters.indexOf(parameter)}`
  const places = Array.from({ length: cuts }, (_, i) => limit(constant + i))
  return places.map((cut) => `(${value} >= ${cut} | 0) + (${value} > ${cut} | 0)`).join(' + ')
}
