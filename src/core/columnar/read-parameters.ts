/** Determines which message fields rows read without calling a plug. */
import { countIn, isExact, ofData } from '#kernel'
import type { BatchShape } from './batch-shape.ts'
import { parametersIn, type ParameterType } from './sensor-formula.ts'

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

/** Returns whether a value has the required type. */
export function isOfType(value: unknown, type: ParameterType | undefined): boolean {
  return typeof value === type && (type !== 'number' || isExact(value as number))
}

/** Same as `number` of a context that also converts booleans; NaN if conversion fails. Undefined: ask the plug. */
export function numberIn(value: unknown, takesTexts: boolean): number | undefined {
  if (typeof value === 'number' && isExact(value)) return value
  return takesTexts && value !== undefined ? (countIn(ofData(value)) ?? Number.NaN) : undefined
}
