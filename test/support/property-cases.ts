/** The seed and the length of properties that say nothing of it: FC_SEED, and FC_RUNS or FC_TIMES in the environment. */
import { configureGlobal, readConfigureGlobal } from 'fast-check'
import { runs } from './arbitraries/runs.ts'

const USUAL = 100
const { FC_SEED, FC_RUNS } = process.env
const { numRuns } = runs(USUAL)
configureGlobal({
  ...readConfigureGlobal(),
  // their cases cost little: the gate tries all
  numRuns: FC_RUNS ? numRuns : Math.max(USUAL, numRuns),
  ...(FC_SEED ? { seed: Number(FC_SEED) } : {}),
})
