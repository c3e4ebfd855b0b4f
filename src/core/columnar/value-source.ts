/** Source text that reads values of messages and compares them with limits, for all that is generated of a shape. */
import type { SensorSteps } from './computed-sensors.ts'
import type { ParameterType } from './sensor-formula.ts'

/** Zero for an exact number (`isExact`), and NaN for any other: 2^53 times this is infinite, and what is less is not. */
function exactSource(value: string): string {
  return `0 * (${value} * ${2 ** 971})`
}

/** Reads fields of `message`, each as a value with a name, and leaves when one is not what it has to be (`isOfType`). */
export function readSource(
  values: readonly { readonly value: string; readonly name: string }[],
  types: ReadonlyMap<string, ParameterType>,
  otherwise: string,
): readonly string[] {
  if (values.length === 0) return []
  const numbers = values.filter(({ name }) => types.get(name) === 'number')
  const others = [
    ...values.map(({ value, name }) => `typeof ${value} !== '${types.get(name)}'`),
    // a sum is zero only when each is
    ...(numbers.length === 0 ? [] : [`${numbers.map(({ value }) => exactSource(value)).join(' + ')} !== 0`]),
  ]
  return [
    ...values.map(({ value, name }) => `const ${value} = message[${JSON.stringify(name)}]`),
    `if (${others.join(' || ')}) ${otherwise}`,
  ]
}

/**
 * The state index, by how many cuts the value reaches and exceeds: arithmetic, since whether a measured value exceeds
 * a limit is what a processor guesses worst. `parameters`: by place, the values v0, v1 ...; `limit`: where a constant stands
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

/** How many cuts the value reaches and exceeds. */
export function rangeSource(
  { parameter, constant, cuts }: SensorSteps,
  parameters: readonly string[],
  limit: (constant: number) => string,
): string {
  const value = `v${parameters.indexOf(parameter)}`
  const places = Array.from({ length: cuts }, (_, i) => limit(constant + i))
  return places.map((cut) => `(${value} >= ${cut} | 0) + (${value} > ${cut} | 0)`).join(' + ')
}
