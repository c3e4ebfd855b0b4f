/** Generates row code for an engine that is created without the library's entry point. */
import type { Generate } from '../../src/core/engine/executor.ts'

export const generate: Generate = (parameters, body) => {
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- the same that the library does
  return new Function(...parameters, body) as ReturnType<Generate>
}
