/**
 * Runs Python models: each in a sandboxed process, with a runtime that provides its framework. An idle model has no
 * process. A crashed process is restarted after a pause, and given up after three crashes in a minute.
 */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError, isPlainObject, type Json, LruCache, messageOf, type StartTimer } from '#kernel'
import type { CallFailure, PoolOptions, ProcessPool, Program } from '#platform/sandbox'
import { CallBatcher } from '../call-batcher.ts'
import {
  GAVE_UP,
  type ModelCall,
  type ModelDriver,
  type OpenModel,
  type PackageOfFiles,
  type Signature,
} from '../driver.ts'
import { FRAMEWORKS, mainFileOf } from '../frameworks.ts'
import type { RuntimeInfo } from '../model-schema.ts'
import { readSignatures } from '../signatures.ts'
import type { PythonRuntime, PythonRuntimes } from './python-runtimes.ts'

const WORKER = fileURLToPath(new URL('./model_worker.py', import.meta.url))
const MAX_ENDS = 3
const ENDS_MS = 60_000
/** number of waits for a slow process before a call is rejected */
const MAX_WAITS = 5

export interface PythonDriverOptions {
  /** Undefined when this host cannot run models. Only this driver uses the pool, and closes it. */
  readonly pool: (log: PoolOptions['log']) => Promise<ProcessPool | undefined>
  readonly runtimes: PythonRuntimes
  readonly folder: string
  readonly later: StartTimer
  readonly clock: () => number
  readonly breathe: () => Promise<void>
}

export function pythonDriver(options: PythonDriverOptions): ModelDriver {
  const { pool, runtimes } = options
  let opened: Promise<ProcessPool | undefined> | undefined
  const written = new LastLines()
  const start = async (): Promise<ProcessPool | undefined> => {
    // removes files of an earlier process
    await rm(options.folder, { recursive: true, force: true })
    return pool(({ key }, { text }) => written.add(key, text))
  }
  const openPool = (): Promise<ProcessPool | undefined> => (opened ??= start())
  return {
    name: 'python',
    refuses: async ({ framework, remote }) => {
      if (remote !== undefined || !FRAMEWORKS.includes(framework)) return 'it runs models of other frameworks'
      if ((await runtimes.of(framework)) === undefined) {
        return `a Python runtime with ${framework} is missing; create one with: reflexarc models runtime add ${framework}`
      }
      const isThere = (await openPool())?.runs('python') === true
      return isThere ? undefined : 'this host cannot run Python programs; /health states the reason'
    },
    open: async (model) => {
      if (model.remote !== undefined) throw new AppError('UNSUPPORTED', 'the model has no files')
      const [found, runtime] = await Promise.all([openPool(), runtimes.of(model.framework)])
      if (found === undefined || runtime === undefined)
        throw new AppError('UNSUPPORTED', 'a Python runtime for the model is missing')
      return openModel({ ...options, written }, found, runtime, model)
    },
    runtimes: async () => (await runtimes.all()).flatMap(infosOf),
    close: async () => (await opened)?.close(),
  }
}

function infosOf({ name, version, frameworks }: PythonRuntime): readonly RuntimeInfo[] {
  return FRAMEWORKS.flatMap((framework) => {
    const found = frameworks[framework]
    if (found === undefined) return []
    return [{ name, driver: 'python', framework, framework_version: found, python_version: version }]
  })
}

async function openModel(
  options: OpenOptions,
  pool: ProcessPool,
  runtime: PythonRuntime,
  model: PackageOfFiles,
): Promise<OpenModel> {
  const { tenant, framework } = model
  const folder = await unpacked(options.folder, model)
  const program: Program = {
    // loading the same files again starts a separate process
    key: `${tenant}/models/${basename(folder)}`,
    owner: tenant,
    language: 'python',
    interpreter: runtime.interpreter,
    module: WORKER,
    readable: [WORKER, folder],
    seesItself: framework === 'tensorflow',
    argument: { paths: runtime.paths, framework, file: join(folder, mainFileOf(framework)) },
  }
  const drop = async (): Promise<void> => {
    await pool.release(program.key)
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const { version, signatures, warnings } = described(await pool.call(program, 'describe', null))
    const batcher = new CallBatcher({ send: callsOf(options, pool, program), breathe: options.breathe })
    return {
      signatures,
      frameworkVersion: version,
      warnings,
      call: (call) => batcher.call(call),
      close: drop,
    }
  } catch (error) {
    await drop()
    throw error instanceof AppError && error.code === 'PLUG_FAILED'
      ? new AppError(
          'MODEL_FAILED',
          `the model could not be loaded: ${error.message}${options.written.of(program.key)}`,
        )
      : error
  }
}

class LastLines {
  readonly #lines = new LruCache<string, readonly string[]>(MAX_WRITERS)

  add(key: string, text: string): void {
    this.#lines.set(key, [...(this.#lines.get(key) ?? []), text.slice(0, MAX_LINE)].slice(-LINES))
  }

  of(key: string): string {
    const lines = this.#lines.get(key)
    return lines === undefined ? '' : `; its last output: ${lines.join(' | ')}`
  }
}

const MAX_WRITERS = 1_000
const MAX_LINE = 200
const LINES = 3

interface OpenOptions extends PythonDriverOptions {
  readonly written: LastLines
}

function callsOf(
  options: OpenOptions,
  pool: ProcessPool,
  program: Program,
): (call: ModelCall) => Promise<readonly Json[]> {
  /** times of crashes, in ms of the clock */
  let ends: number[] = []
  let gaveUp: AppError | undefined
  const failed = (error: AppError, cause: CallFailure): AppError => {
    if (cause === 'answered') return new AppError('MODEL_FAILED', `the model failed: ${error.message}`)
    const message = error.message + options.written.of(program.key)
    const now = options.clock()
    ends = [...ends.filter((time) => now - time < ENDS_MS), now]
    if (ends.length < MAX_ENDS) return new AppError('MODEL_FAILED', `the process of the model ended: ${message}`)
    const text = `its process ended ${MAX_ENDS} times in a minute, last because ${message}`
    gaveUp = new AppError('MODEL_FAILED', text, { cause: GAVE_UP })
    return gaveUp
  }
  return async ({ operation, signature = null, probabilities = false, instances }) => {
    for (let waits = 0; ; waits++) {
      if (gaveUp !== undefined) throw gaveUp
      try {
        const params = { operation, signature, probabilities, instances }
        return valuesOf(await pool.call(program, 'call', params), operation)
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'PLUG_FAILED') throw error
        const cause = error.cause as CallFailure
        if (cause !== 'held back') throw failed(error, cause)
        if (waits === MAX_WAITS) throw new AppError('NOT_READY', `Model not ready yet: ${error.message}`)
        const { startsIn } = pool.state(program.key)
        await new Promise<void>((resolve) => void options.later(startsIn + 1, resolve))
      }
    }
  }
}

interface Described {
  readonly version: string
  readonly signatures: readonly Signature[]
  readonly warnings: readonly string[]
}

const MAX_WARNINGS = 5
const MAX_WARNING = 1_000
const MAX_VERSION = 50

/** Checks a description: the worker is trusted, but the text may come from the model. */
function described(answer: unknown): Described {
  if (!isPlainObject(answer))
    throw new AppError('MODEL_FAILED', 'the model could not be loaded: its description of inputs is invalid')
  const { version, signatures, warnings } = answer
  const texts: readonly unknown[] = Array.isArray(warnings) ? warnings.slice(0, MAX_WARNINGS) : []
  return {
    version: String(version).slice(0, MAX_VERSION),
    signatures: readSignatures(signatures),
    warnings: texts.map((text) => String(text).slice(0, MAX_WARNING)),
  }
}

function valuesOf(answer: unknown, operation: ModelCall['operation']): readonly Json[] {
  if (isPlainObject(answer)) {
    const { values, wrong, index, failed } = answer
    if (Array.isArray(values)) return values as readonly Json[]
    const list = operation === 'predict' ? 'instances' : 'examples'
    if (typeof wrong === 'string') {
      throw new AppError('VALIDATION', typeof index === 'number' ? `/${list}/${index} <- ${wrong}` : wrong)
    }
    if (typeof failed === 'string') throw new AppError('MODEL_FAILED', `the model failed: ${failed}`)
  }
  throw new AppError('MODEL_FAILED', 'the model failed: it returned no values')
}

async function unpacked(parent: string, { files }: PackageOfFiles): Promise<string> {
  try {
    await mkdir(parent, { recursive: true })
    const folder = await mkdtemp(join(parent, 'model-'))
    await chmod(folder, 0o755)
    for (const [path, content] of files) {
      const file = join(folder, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, content)
      // processes run as other users, so set permissions regardless of the umask
      await chmod(file, 0o644)
      for (let own = dirname(file); own !== folder; own = dirname(own)) await chmod(own, 0o755)
    }
    return folder
  } catch (error) {
    throw new AppError('STORE', `a model could not be unpacked: ${messageOf(error)}`, { cause: error })
  }
}
