/** Which values of a message rows read by themselves. */
import { countIn, isExact, ofData } from '#kernel'
import type { BatchShape } from './batch-shape.ts'
import { parametersIn, type ParameterType } from './sensor-formula.ts'

/** The fields that rows of a shape compare or calculate with. */
export function parametersOf(shape: Pick<BatchShape, 'sensors'>): readonly string[] {
  return [...typesOf(shape).keys()]
}

/** The same, with what each has to be. */
export function typesOf({ sensors }: Pick<BatchShape, 'sensors'>): ReadonlyMap<string, ParameterType> {
  return new Map(
    sensors.flatMap(({ steps, formula }): readonly (readonly [string, ParameterType])[] =>
      steps ? [[steps.parameter, 'number']] : formula ? parametersIn(formula) : [],
    ),
  )
}

/** Whether a value is what it has to be. */
export function isOfType(value: unknown, type: ParameterType | undefined): boolean {
  return typeof value === type && (type !== 'number' || isExact(value as number))
}

/** As `number` of a context that counts truths: NaN when that fails. Undefined: the plug has to be asked. */
export function numberIn(value: unknown, takesTexts: boolean): number | undefined {
  if (typeof value === 'number' && isExact(value)) return value
  return takesTexts && value !== undefined ? (countIn(ofData(value)) ?? Number.NaN) : undefined
}
