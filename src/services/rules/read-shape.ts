/** Reads an object from outside by its schema, with every problem told at once. */
import { checkShape } from '../../core/rule/check/check-shape.ts'
import { Report } from '../../core/rule/check/report.ts'
import { isPlainObject } from '../../kernel/json.ts'
import { refuse } from '../../kernel/issues.ts'

/** An object from outside that fits a schema; fields beyond it are let through. Throws `VALIDATION` with every problem. */
export function readShape(schema: object, input: unknown, subject: string): object {
  const report = new Report()
  const fitting = checkShape(schema, input, '', subject, report)
  if (report.hasErrors || !isPlainObject(fitting)) throw refuse(subject, report.issues)
  return fitting
}
