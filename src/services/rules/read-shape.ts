/** Reads an object from outside by its schema, with every problem told at once. */
import { checkShape, Report } from '#core/spi'
import { isPlainObject, refuse } from '#kernel'

/** An object from outside that fits a schema; fields beyond it are let through. Throws `VALIDATION` with every problem. */
export function readShape(schema: object, input: unknown, subject: string): object {
  const report = new Report()
  const fitting = checkShape(schema, input, '', subject, report)
  if (report.hasErrors || !isPlainObject(fitting)) throw refuse(subject, report.issues)
  return fitting
}
