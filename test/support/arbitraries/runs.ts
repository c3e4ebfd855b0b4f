/**
 * How many cases a property tries. The usual number makes the gate short; FC_TIMES in the environment multiplies it,
 * which is what `npm run test:long` does, and FC_RUNS is a number for all.
 */
const { FC_RUNS, FC_TIMES } = process.env

export function runs(usual: number): { numRuns: number } {
  return { numRuns: cases(usual) }
}

/** The same for what counts its cases by itself. */
export function cases(usual: number): number {
  return FC_RUNS ? Number(FC_RUNS) : usual * Number(FC_TIMES ?? 1)
}
