/** The seed and the length of properties that say nothing of it: FC_SEED, and FC_RUNS or FC_TIMES in the environment. */
import { configureGlobal, readConfigureGlobal } from 'fast-check'
import { runs } from './arbitraries/runs.ts'

const USUAL = 100
const { FC_SEED } = process.env
configureGlobal({ ...readConfigureGlobal(), ...runs(USUAL), ...(FC_SEED ? { seed: Number(FC_SEED) } : {}) })
