/**
 * Determines how many cases a test tries: the environment variable FC_TIMES multiplies the usual number. `npm test`
 * runs a share of it, `npm run test:wide` all, `npm run test:long` more. FC_RUNS sets the number for all properties.
 */
const { FC_RUNS, FC_TIMES } = process.env

export function runs(usual: number): { numRuns: number } {
  return { numRuns: FC_RUNS ? Number(FC_RUNS) : cases(usual) }
}

/** Returns the number of other repetitions, such as kills, tasks or messages. */
export function cases(usual: number): number {
  return Math.ceil(usual * Number(FC_TIMES ?? 1))
}

/** Returns some rows of a table, at most all of them. */
export function some<T>(rows: readonly T[]): readonly T[] {
  const count = Math.min(rows.length, cases(rows.length))
  return rows.filter((_, i) => Math.floor(((i + 1) * count) / rows.length) > Math.floor((i * count) / rows.length))
}
