/** One sample: predictions of a hosted model, by its driver alone or over HTTP from another process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { zipSync } from 'fflate'
import { createClient } from '../../src/client.ts'
import { readConfig } from '../../src/host/config.ts'
import { startHost } from '../../src/host/running-host.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { machineTimers } from '../../src/platform/timers.ts'
import { inspectMachine } from '../../src/platform/sandbox/inspect-machine.ts'
import { DEFAULT_LIMITS } from '../../src/platform/sandbox/limits.ts'
import { ProcessPool } from '../../src/platform/sandbox/process-pool.ts'
import type { Framework } from '../../src/services/models/contract.ts'
import type { ModelDriver, PackageOfFiles } from '../../src/services/models/driver.ts'
import { pythonDriver } from '../../src/services/models/python/python-driver.ts'
import { PythonRuntimes } from '../../src/services/models/python/python-runtimes.ts'
import { mainFileOf } from '../../src/services/models/layouts.ts'
import { xgboostDriver } from '../../src/services/models/xgboost/xgboost-driver.ts'

export type ModelsSubject = 'evaluator' | 'booster-worker' | 'forest-worker' | 'forest-http' | 'forest-http-64' | 'wake'

export interface ModelsSample {
  readonly perSecond: number
  /** ms */
  readonly p50: number
  readonly p99: number
}

const MEASURE_MS = 3_000
const RUNTIMES = process.env['REFLEXARC_FRAMEWORKS'] ?? join(homedir(), '.cache/reflexarc-frameworks')
const FIXTURES = join(import.meta.dirname, '../../fixtures/models')
const BODY = { instances: [[0.1, -0.2, 0.3, 0.4]] }
const { breathe, later } = machineTimers

export async function modelsSample(subject: ModelsSubject): Promise<ModelsSample> {
  if (subject === 'evaluator') return byDriver(xgboostDriver({ breathe }), 'xgboost')
  if (subject === 'forest-http') return overHttp(1)
  if (subject === 'forest-http-64') return overHttp(64)
  const folder = mkdtempSync(join(tmpdir(), 'bench-models-'))
  const driver = pythonIn(folder)
  try {
    if (subject === 'wake') return await wake(driver)
    return await byDriver(driver, subject === 'booster-worker' ? 'xgboost' : 'sklearn')
  } finally {
    await driver.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function pythonIn(folder: string): ModelDriver {
  const emptyFolder = join(folder, 'empty')
  const clock = (): number => performance.now()
  return pythonDriver({
    pool: async (log) => {
      mkdirSync(emptyFolder)
      const machine = await inspectMachine({ confinement: 'confined', emptyFolder, environment: process.env })
      const limits = { ...DEFAULT_LIMITS, startMs: 60_000, memoryMib: 8_192, tasks: 64, openFiles: 256 }
      const answer = (): Promise<never> => Promise.reject(new Error('nothing is answered'))
      const sizes = { processes: 4, perProgram: 1, idleMs: 60_000 }
      return new ProcessPool({ machine, emptyFolder, limits, ...sizes, later, clock, answer, log })
    },
    runtimes: new PythonRuntimes(RUNTIMES),
    folder: join(folder, 'unpacked'),
    later,
    clock,
    breathe,
  })
}

function packageOf(framework: Framework): PackageOfFiles {
  const file = mainFileOf(framework)
  const files = new Map([[file, new Uint8Array(readFileSync(join(FIXTURES, framework, file)))]])
  return { tenant: 'bench', name: 'm', framework, digest: framework, files }
}

/** One caller, who asks again when it was answered. */
async function byDriver(driver: ModelDriver, framework: Framework): Promise<ModelsSample> {
  const model = await driver.open(packageOf(framework))
  const ask = () => model.call({ operation: 'predict', ...BODY })
  for (let n = 0; n < 200; n++) await ask()
  const times: number[] = []
  const began = performance.now()
  for (let now = began; now - began < MEASURE_MS;) {
    await ask()
    const after = performance.now()
    times.push(after - now)
    now = after
  }
  return figuresOf(times, MEASURE_MS)
}

/** From nothing to an answer: the process starts, and loads its model. */
async function wake(driver: ModelDriver): Promise<ModelsSample> {
  const times: number[] = []
  for (let n = 0; n < 5; n++) {
    const began = performance.now()
    const model = await driver.open(packageOf('sklearn'))
    await model.call({ operation: 'predict', ...BODY })
    times.push(performance.now() - began)
    await model.close()
  }
  return { ...figuresOf(times, MEASURE_MS), perSecond: 0 }
}

async function overHttp(connections: number): Promise<ModelsSample> {
  const credentials = { key: 'bench', secret: 'bench' }
  const given = { store: 'memory:', port: 0, ...credentials, empty: true, logLevel: 'silent', rateLimit: 0 }
  const config = readConfig({ ...given, modelRuntimes: RUNTIMES }, {}, [...SERVICES.keys()])
  const host = await startHost(config, { write: () => undefined }, { hashCost: 2 })
  try {
    const { models } = createClient({ url: host.url, credentials })
    await models.create({
      name: 'forest',
      framework: 'sklearn',
      file: zipSync(Object.fromEntries(packageOf('sklearn').files)),
    })
    for (let info = await models.get('forest'); !info.ready; info = await models.get('forest')) {
      if (info.failure !== undefined) throw new Error(info.failure)
    }
    const port = new URL(host.url).port
    const args = [
      port,
      '/models/forest/predict',
      String(connections),
      String(MEASURE_MS),
      '0',
      'bench:bench',
      JSON.stringify(BODY),
    ]
    const child = spawn(process.execPath, [join(import.meta.dirname, 'webscripts-client.ts'), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
    return JSON.parse(output) as ModelsSample
  } finally {
    await host.stop()
  }
}

function figuresOf(times: readonly number[], ms: number): ModelsSample {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { perSecond: (times.length * 1_000) / ms, p50: at(0.5), p99: at(0.99) }
}
