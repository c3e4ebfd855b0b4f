/**
 * How many cases a test tries. The usual number makes the gate short; FC_TIMES in the environment multiplies it, which is
 * what `npm run test:long` does. FC_RUNS is a number for all properties.
 */
const { FC_RUNS, FC_TIMES } = process.env

export function runs(usual: number): { numRuns: number } {
  return { numRuns: FC_RUNS ? Number(FC_RUNS) : cases(usual) }
}

/** The same for what is no property: kills, tasks, messages. */
export function cases(usual: number): number {
  return usual * Number(FC_TIMES ?? 1)
}
