/** Code of rows for an engine that is made without the library around it. */
import type { Generate } from '../../src/core/engine/executor.ts'

export const generate: Generate = (parameters, body) => {
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- the same that the library does
  return new Function(...parameters, body) as ReturnType<Generate>
}
