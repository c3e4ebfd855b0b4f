/**
 * How many cases a test tries: FC_TIMES in the environment multiplies the usual number. `npm test` takes a share of it,
 * `npm run test:wide` all, `npm run test:long` more. FC_RUNS is a number for all properties.
 */
const { FC_RUNS, FC_TIMES } = process.env

export function runs(usual: number): { numRuns: number } {
  return { numRuns: FC_RUNS ? Number(FC_RUNS) : cases(usual) }
}

/** The same for what is no property: kills, tasks, messages. */
export function cases(usual: number): number {
  return Math.ceil(usual * Number(FC_TIMES ?? 1))
}

/** The same for the rows of a table, which has all of them at most. */
export function some<T>(rows: readonly T[]): readonly T[] {
  const count = Math.min(rows.length, cases(rows.length))
  return rows.filter((_, i) => Math.floor(((i + 1) * count) / rows.length) > Math.floor((i * count) / rows.length))
}
