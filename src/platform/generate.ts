/** The one place where text becomes code, for whoever may generate it. */
import type { Generate } from '#core/spi'

/** The one of this process or page; undefined where code may not be generated. */
export function generatorHere(): Generate | undefined {
  try {
    return generate([], 'return 1')() === 1 ? generate : undefined
  } catch {
    return undefined
  }
}

/** Source text that the engine writes: comparisons, places in arrays, and names of message fields as JSON texts. */
function generate(parameters: readonly string[], body: string): (...given: never[]) => unknown {
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- the text is the engine's own; rules' expressions never become code
  return new Function(...parameters, body) as (...given: never[]) => unknown
}
