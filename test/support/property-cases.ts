/** Sets the default seed and length of properties from the environment variables FC_SEED, FC_RUNS and FC_TIMES. */
import { configureGlobal, readConfigureGlobal } from 'fast-check'
import { runs } from './arbitraries/runs.ts'

const USUAL = 100
const { FC_SEED, FC_RUNS } = process.env
const { numRuns } = runs(USUAL)
configureGlobal({
  ...readConfigureGlobal(),
  // the cases are cheap, so the gate tries all
  numRuns: FC_RUNS ? numRuns : Math.max(USUAL, numRuns),
  ...(FC_SEED ? { seed: Number(FC_SEED) } : {}),
})
