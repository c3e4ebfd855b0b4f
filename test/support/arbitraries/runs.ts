/** How often properties run, and from which seed: FC_RUNS and FC_SEED in the environment. */
export function runs(usual: number): { numRuns: number; seed?: number } {
  const { FC_RUNS, FC_SEED } = process.env
  return {
    numRuns: FC_RUNS ? Number(FC_RUNS) : usual,
    ...(FC_SEED ? { seed: Number(FC_SEED) } : {}),
  }
}
