/** Calls functions in their processes, restores missing builds, and keeps the last log lines. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { AppError, KeyedMutex } from '#kernel'
import type { OpenSecrets } from '#services/vault/contract'
import type { ProcessPool, Program, ProgramLine } from '#platform/sandbox'
import type { Builder, BuildResult } from './build.ts'
import type { CallOptions, FunctionLine, LogLine } from './contract.ts'
import { type FunctionRecord, lockOf, recordId } from './function-record.ts'
import type { FunctionStore } from './function-store.ts'
import { FUNCTION_TYPES } from './function-type.ts'
import type { Assets } from './registry/archive.ts'
import { type Runtime, RUNTIMES } from './runtimes/catalog.ts'

const MAX_LINES = 200
const MAX_LOGS = 1_000

export interface CallerDependencies {
  readonly tenant: string
  readonly pool: () => Promise<ProcessPool | undefined>
  readonly builder: Builder
  readonly store: FunctionStore
  readonly now: () => number
  readonly secrets: (names: readonly string[]) => Promise<OpenSecrets>
  readonly onLine?: (line: FunctionLine) => void
}

const NO_SECRETS: OpenSecrets = { values: new Map(), revision: '' }

export class FunctionCaller {
  readonly #dependencies: CallerDependencies
  readonly #builds = new KeyedMutex()
  /** log lines by the program's key without secrets, least recently used first */
  readonly #logs = new Map<string, LogLine[]>()
  /** the program's key with secrets, by its key without secrets */
  readonly #secretive = new Map<string, string>()
  /** programs of records that use no secrets */
  readonly #programs = new WeakMap<FunctionRecord, Program>()

  constructor(dependencies: CallerDependencies) {
    this.#dependencies = dependencies
  }

  /** Returns why functions of a runtime cannot run here. */
  async problem(runtime: Runtime): Promise<string | undefined> {
    return problemOf(runtime, await this.#dependencies.pool())
  }

  async call(
    record: FunctionRecord,
    method: string,
    params: unknown,
    { signal, timer, onStart }: CallOptions = {},
  ): Promise<unknown> {
    const pool = await this.#dependencies.pool()
    const runtime = runtimeOf(record)
    const problem = problemOf(runtime, pool)
    if (pool === undefined || problem !== undefined) throw new AppError('PLUG_FAILED', problem ?? 'functions are off')
    const { digest } = record.build ?? {}
    if (digest === undefined) throw new AppError('PLUG_FAILED', 'it has not been built')
    if (!this.#dependencies.builder.has(digest)) await this.ensureBuilt(record)
    const program = this.#programs.get(record) ?? (await this.#makeProgram(record, runtime, digest))
    if (onStart !== undefined && !pool.has(program)) onStart()
    return pool.call(program, method, params, { signal, timer })
  }

  /** Builds again when another host made the build, or this host lost it. */
  async ensureBuilt(record: FunctionRecord): Promise<void> {
    await this.#builds.run(record.revision, async () => {
      await this.build(record, await this.#dependencies.store.assets(record.assets))
    })
  }

  build(record: FunctionRecord, assets: Assets): Promise<BuildResult> {
    const { tenant, builder } = this.#dependencies
    const { runtimeVersion, revision } = record
    const runtime = runtimeOf(record)
    return builder.build({ owner: tenant, runtime, runtimeVersion, assets, revision, lock: lockOf(record) })
  }

  async release(record: FunctionRecord): Promise<void> {
    const { digest } = record.build ?? {}
    if (digest === undefined) return
    const key = this.#keyOf(record, digest)
    const pool = await this.#dependencies.pool()
    await pool?.release(this.#secretive.get(key) ?? key)
    this.#secretive.delete(key)
  }

  addLine({ key: whole }: Program, { level, text }: ProgramLine): void {
    const [key = ''] = whole.split(WITH_SECRETS)
    const lines = this.#logs.get(key) ?? []
    const { now, onLine } = this.#dependencies
    const one = { time: now(), level, text }
    lines.push(one)
    const about = onLine && partsOf(key)
    if (about !== undefined) onLine?.({ ...one, ...about })
    if (lines.length > MAX_LINES) lines.shift()
    this.#logs.delete(key)
    this.#logs.set(key, lines)
    const [oldest] = this.#logs.keys()
    if (this.#logs.size > MAX_LOGS && oldest !== undefined) this.#logs.delete(oldest)
  }

  lines(record: FunctionRecord): readonly LogLine[] {
    return this.#logs.get(this.#keyOf(record, record.build?.digest ?? '')) ?? []
  }

  async #makeProgram(record: FunctionRecord, runtime: Runtime, digest: string): Promise<Program> {
    const { tenant, builder } = this.#dependencies
    const secrets = await this.secretsOf(record)
    const folder = builder.folderOf(digest)
    const key = this.#keyOf(record, digest)
    const { module, readable } = harnessOf(runtime)
    const program: Program = {
      key: key + suffixOf(secrets),
      owner: tenant,
      language: runtime.language,
      module,
      readable: [...readable, folder],
      argument: {
        module: join(folder, runtime.main),
        env: { ...environmentOf(record), ...Object.fromEntries(secrets.values) },
      },
      secrets: [...secrets.values.values()],
      ...limitsOf(record),
    }
    if (secrets === NO_SECRETS) this.#programs.set(record, program)
    // processes with the previous secrets become idle and end
    else this.#secretive.set(key, program.key)
    return program
  }

  /** Returns a key that is unique on the host, and also depends on environment and limits. */
  #keyOf(record: FunctionRecord, digest: string): string {
    const deployed = JSON.stringify([environmentOf(record), limitsOf(record)])
    const suffix = deployed === '[{},{}]' ? '' : createHash('sha256').update(deployed).digest('hex').slice(0, 16)
    return `${this.#dependencies.tenant}/${recordId(record)}/${digest}${suffix}`
  }

  async secretsOf(record: FunctionRecord): Promise<OpenSecrets> {
    const names = record.overrides?.secrets ?? record.manifest.deploy?.secrets ?? []
    if (names.length === 0) return NO_SECRETS
    const secrets = await this.#dependencies.secrets(names)
    const missing = names.filter((name) => !secrets.values.has(name))
    if (missing.length === 0) return secrets
    const all = missing.map((name) => `"${name}"`).join(', ')
    throw new AppError('PLUG_FAILED', `the vault lacks the secret ${all} of its manifest; store it first`)
  }
}

function problemOf(runtime: Runtime, pool: ProcessPool | undefined): string | undefined {
  if (pool === undefined) return 'functions are off on this host'
  if (runtime.harness === undefined) return `this host cannot run functions for ${runtime.name}`
  return pool.runs(runtime.language)
    ? undefined
    : `this host does not run functions for ${runtime.name}; /health states the reason`
}

function harnessOf({ name, harness }: Runtime): NonNullable<Runtime['harness']> {
  if (harness === undefined) throw new AppError('PLUG_FAILED', `this host cannot run functions for ${name}`)
  return harness
}

export function runtimeOf({ manifest }: Pick<FunctionRecord, 'manifest'>): Runtime {
  const runtime = RUNTIMES.get(manifest.runtime)
  if (runtime === undefined) throw new AppError('PLUG_FAILED', `this host has no runtime ${manifest.runtime}`)
  return runtime
}

/** Returns the webscript that a program runs; undefined for another function. */
export function webscriptOfProgram({ key }: Pick<Program, 'key'>): Pick<FunctionLine, 'name' | 'version'> | undefined {
  const about = partsOf(key)
  return about?.type === 'webscripts' ? about : undefined
}

function partsOf(key: string): Omit<FunctionLine, keyof LogLine> | undefined {
  const [, text, name = '', version = ''] = KEY.exec(key) ?? []
  const type = FUNCTION_TYPES.find((one) => one === text)
  return type && { type, name, version }
}

/** Parses a key; names and tenants contain no slashes. */
const KEY = /^[^/]+\/([^/]+)\/([^/@]+)@([^/]+)\//

function environmentOf({ manifest, overrides }: FunctionRecord): Readonly<Record<string, string>> {
  return { ...manifest.deploy?.envVars, ...overrides?.envVars }
}

function limitsOf({ manifest, overrides }: FunctionRecord): Pick<Program, 'memoryMib' | 'cpuPerSecond'> {
  const { memory, cpu } = { ...manifest.deploy?.limits, ...overrides?.limits }
  const cores = cpu?.endsWith('m') === true ? Number(cpu.slice(0, -1)) / 1_000 : Number(cpu)
  return {
    ...(memory !== undefined && { memoryMib: Number.parseInt(memory, 10) }),
    ...(cpu !== undefined && { cpuPerSecond: cores }),
  }
}

const WITH_SECRETS = '+'

/** Returns a key suffix for secrets, so that changed values lead to another process. */
function suffixOf(secrets: OpenSecrets): string {
  if (secrets === NO_SECRETS) return ''
  return WITH_SECRETS + createHash('sha256').update(secrets.revision).digest('hex').slice(0, 16)
}
