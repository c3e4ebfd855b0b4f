/** Finds the Python environments with frameworks that tests use if present, in a cache outside the checkout. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { Json } from '../../../../src/kernel/json.ts'
import { machineTimers } from '../../../../src/platform/timers.ts'
import { inspectMachine } from '../../../../src/platform/sandbox/inspect-machine.ts'
import { DEFAULT_LIMITS } from '../../../../src/platform/sandbox/limits.ts'
import { type PoolOptions, ProcessPool } from '../../../../src/platform/sandbox/process-pool.ts'
import type { Framework } from '../../../../src/services/models/contract.ts'
import type { ModelDriver, PackageOfFiles } from '../../../../src/services/models/driver.ts'
import { pythonDriver } from '../../../../src/services/models/python/python-driver.ts'
import { type PythonRuntime, PythonRuntimes } from '../../../../src/services/models/python/python-runtimes.ts'

/** Contains one virtual environment per framework; `REFLEXARC_FRAMEWORKS` names another folder. */
export const FRAMEWORKS_FOLDER = process.env['REFLEXARC_FRAMEWORKS'] ?? join(homedir(), '.cache/reflexarc-frameworks')

const LIMITS = {
  ...DEFAULT_LIMITS,
  startMs: 120_000,
  memoryMib: 8_192,
  tasks: 64,
  openFiles: 256,
}

export interface TestDriver extends AsyncDisposable {
  readonly driver: ModelDriver
  readonly pool: ProcessPool | undefined
}

/** Returns the environment of a framework. If it is missing, prints clearly that nothing is tested with it. */
export async function installedRuntime(framework: Framework): Promise<PythonRuntime | undefined> {
  const found = await new PythonRuntimes(FRAMEWORKS_FOLDER).of(framework)
  if (found === undefined) {
    process.stderr.write(`*** NOT TESTED: models of ${framework}: no Python with it is in ${FRAMEWORKS_FOLDER}\n`)
  }
  return found
}

export async function testDriver(options: Partial<PoolOptions> = {}): Promise<TestDriver> {
  const folder = mkdtempSync(join(tmpdir(), 'models-'))
  const emptyFolder = join(folder, 'empty')
  mkdirSync(emptyFolder)
  const machine = await inspectMachine({ confinement: 'confined', emptyFolder, environment: process.env })
  let pool: ProcessPool | undefined
  const { later, breathe } = machineTimers
  const clock = (): number => performance.now()
  const driver = pythonDriver({
    pool: async (log) => {
      const limits = { ...LIMITS, ...options.limits }
      pool = new ProcessPool({
        machine,
        emptyFolder,
        processes: 4,
        perProgram: 1,
        idleMs: 60_000,
        later,
        clock,
        answer: () => Promise.reject(new Error('nothing is answered')),
        log,
        ...options,
        limits,
      })
      return pool
    },
    runtimes: new PythonRuntimes(FRAMEWORKS_FOLDER),
    folder: join(folder, 'unpacked'),
    later,
    clock,
    breathe,
  })
  return {
    driver,
    get pool() {
      return pool
    },
    [Symbol.asyncDispose]: async () => {
      await driver.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What fixtures/models/train.py recorded. */
export interface Recorded {
  readonly version: string
  readonly instances: readonly Json[]
  readonly predictions: readonly Json[]
  readonly probabilities?: readonly Json[]
}

const FIXTURES = join(import.meta.dirname, '../../../../fixtures/models')

/** Returns the files of the model in fixtures/models, and its library's predictions. */
export function fixtureOf(framework: Framework): { readonly model: PackageOfFiles; readonly record: Recorded } {
  const folder = join(FIXTURES, framework)
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const files = new Map(paths.map((path) => [relative(folder, path), new Uint8Array(readFileSync(path))]))
  const record = JSON.parse(readFileSync(`${folder}.json`, 'utf8')) as Recorded
  return { model: packageOf(framework, files), record }
}

export function packageOf(
  framework: Framework,
  files: PackageOfFiles['files'],
  digest: string = framework,
): PackageOfFiles {
  return { tenant: 'acme', name: 'm', framework, digest, files }
}
