/** Creates the models service of a host and its drivers. */
import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '#kernel'
import { machineTimers, Seal } from '#platform'
import { DEFAULT_LIMITS, inspectMachine, type PoolOptions, type ProcessLimits, ProcessPool } from '#platform/sandbox'
import { Models, LoadedModels, modelsRoutes, pythonDriver, PythonRuntimes, remoteDriver } from '#services/models'
import { errorBodyOfLines } from '#services/shared'
import { xgboostDriver } from '#services/models/xgboost'
import type { Config } from '../config.ts'
import { serviceFolder } from '../service-folder.ts'
import { sealKey } from '../seal-key.ts'
import type { MakeService } from './service-dependencies.ts'
import { ofCaller } from './service-registry.ts'
import { nodeTransport } from '../transport/node-transport.ts'
import { remoteModels } from '../transport/remote-models.ts'

/** Maximum number of model processes per host: a process with TensorFlow takes half a gigabyte. */
const PROCESSES = 8
const IDLE_MS = 300_000

/** Limits of a model process: libraries load slowly, and reserve far more addresses than they use. */
const LIMITS: ProcessLimits = {
  ...DEFAULT_LIMITS,
  startMs: 120_000,
  callMs: 30_000,
  memoryMib: 8_192,
  tasks: 64,
  openFiles: 256,
  lineBytes: 33_554_432,
  unansweredBytes: 67_108_864,
}

export const makeModels: MakeService = ({ figures, gauges, logger, now, config, tenants }) => {
  const seal = new Seal(sealKey(config))
  const { later, breathe } = machineTimers
  const clock = (): number => performance.now()
  const { folder, stopWith } = serviceFolder(config, 'models')
  const python = pythonDriver({
    pool: (log) => openPool(config, join(folder, 'empty'), log),
    runtimes: new PythonRuntimes(config.modelRuntimes),
    folder: join(folder, 'unpacked'),
    later,
    clock,
    breathe,
  })
  const transport = remoteModels(nodeTransport({ allow: config.allowUrl }))
  const loaded = new LoadedModels([
    remoteDriver({ transport, later, clock, breathe }),
    xgboostDriver({ breathe }),
    python,
  ])
  gauges.watchQueue('models-loaded', () => loaded.size)
  figures.total('models-called', ({ models }) => models?.gauges().calls)
  figures.total('models-instances', ({ models }) => models?.gauges().instances)
  figures.total('models-failed', ({ models }) => models?.gauges().failed)
  return {
    name: 'models',
    description: 'Machine-learning models of tenants: uploaded as zips or on other servers, called for predictions',
    errorBody: errorBodyOfLines,
    routes: (app) => modelsRoutes(app, { service: ofCaller(tenants, ({ models }) => models) }),
    open: ({ tenant, store, services }) => {
      const models = new Models({
        tenant,
        store,
        loaded,
        now,
        newId: () => randomUUID(),
        seal,
        registry: () => services.functions,
        logger,
      })
      return { provides: { models }, life: models }
    },
    end: () => stopWith(() => loaded.close()),
  }
}

/** Inspects the machine and opens the process pool, only once a Python model is used. */
async function openPool(
  config: Config,
  emptyFolder: string,
  log: PoolOptions['log'],
): Promise<ProcessPool | undefined> {
  if (config.functions === 'off') return undefined
  mkdirSync(emptyFolder, { recursive: true })
  const confinement = config.functions === 'fenced' ? 'confined' : 'trusted'
  const machine = await inspectMachine({ confinement, emptyFolder, environment: process.env })
  return new ProcessPool({
    machine,
    emptyFolder,
    limits: LIMITS,
    processes: PROCESSES,
    perProgram: 1,
    idleMs: IDLE_MS,
    later: machineTimers.later,
    clock: () => performance.now(),
    answer: () => Promise.reject(new AppError('PLUG_FAILED', 'models cannot call the host')),
    log,
  })
}
