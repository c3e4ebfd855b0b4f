/** All properties of a test run start from FC_SEED when it is set; the gate sets it, so that it tests a change and not luck. */
import { configureGlobal, readConfigureGlobal } from 'fast-check'

const { FC_SEED } = process.env
if (FC_SEED) configureGlobal({ ...readConfigureGlobal(), seed: Number(FC_SEED) })
