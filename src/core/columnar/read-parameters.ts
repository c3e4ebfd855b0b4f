/** Which values of a message rows read by themselves. */
import type { BatchShape } from './batch-shape.ts'
import { parametersIn } from './sensor-formula.ts'

/** The fields that rows of a shape compare or calculate with. */
export function parametersOf({ sensors }: BatchShape): readonly string[] {
  return [
    ...new Set(
      sensors.flatMap(({ steps, formula }) => (steps ? [steps.parameter] : formula ? parametersIn(formula) : [])),
    ),
  ]
}
