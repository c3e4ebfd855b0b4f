/** Returns the output of a template, in the form of the recorded outputs. */
import { AppError } from '../../../src/kernel/errors.ts'
import { VelocityTemplate } from '../../../src/formats/velocity/template.ts'
import type { Version } from './apache/judge.ts'

/** `!parse` for an invalid template, `!run` for one that fails. */
export function printed(template: string, data: object, compat: Version): string {
  try {
    return new VelocityTemplate(template, { compat, now: () => 0 }).render({ ...data })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.code === 'TEMPLATE' ? '!parse' : '!run'
  }
}
