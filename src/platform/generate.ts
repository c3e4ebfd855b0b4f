/** Generates functions from text; the only place that does. */
import type { Generate } from '#core/spi'

export function generatorHere(): Generate | undefined {
  try {
    return generate([], 'return 1')() === 1 ? generate : undefined
  } catch {
    return undefined
  }
}

/** The text is written by the engine: comparisons, array accesses, and field names in JSON. */
function generate(parameters: readonly string[], body: string): (...args: never[]) => unknown {
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- the text is the engine's own; rules' expressions never become code
  return new Function(...parameters, body) as (...args: never[]) => unknown
}
