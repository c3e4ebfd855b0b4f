/** All properties of a test run start from FC_SEED when it is set; the gate sets it, so that it tests a change and not luck. */
const { FC_SEED } = process.env
if (FC_SEED) {
  const { configureGlobal, readConfigureGlobal } = await import('fast-check')
  configureGlobal({ ...readConfigureGlobal(), seed: Number(FC_SEED) })
}

export {}
