/** Offers the functions of one tenant: records and assets in its store, jobs that build, and processes that run. */
import { createHash } from 'node:crypto'
import { type JobSlots, JobRunner } from '#jobs'
import { AppError, type Caller, KeyedMutex, type Logger, messageOf } from '#kernel'
import { machineTimers } from '#platform'
import type { InternalModels } from '#services/models/contract'
import type { InternalVault } from '#services/vault/contract'
import type { Store, Write } from '#storage'
import type { ApiDependencies } from './changes/change-context.ts'
import type {
  CallOptions,
  DeployedPlug,
  DeployedWebscript,
  FunctionLine,
  FunctionsApi,
  InternalFunctions,
  FunctionType,
} from './contract.ts'
import { functionApi } from './function-api.ts'
import { FunctionCaller } from './function-caller.ts'
import type { FunctionPrograms } from './function-programs.ts'
import { type FunctionId, type FunctionRecord, isRunning, recordId, refuseProtected } from './function-record.ts'
import { FunctionStore, noVersion } from './function-store.ts'
import { lifecycleHandlers } from './jobs/lifecycle-jobs.ts'
import { ModelRunner } from './model-runner.ts'
import { ProcessRunner } from './version-runner.ts'

export interface FunctionsOptions extends Pick<ApiDependencies, 'now' | 'newId' | 'newSecret' | 'isTaken' | 'usesOf'> {
  readonly tenant: string
  readonly store: Store
  readonly slots?: JobSlots
  readonly programs: FunctionPrograms
  readonly models?: () => InternalModels | undefined
  readonly vault?: () => InternalVault | undefined
  /** Announces ids of new and removed webscripts to the hosts that accept calls. */
  readonly announceWebscripts?: ((ids: readonly string[], removed: readonly string[]) => Promise<void>) | undefined
  readonly onLine?: (line: FunctionLine) => void
  readonly logger?: Logger
}

export class Functions implements InternalFunctions {
  readonly #options: FunctionsOptions
  readonly #store: FunctionStore
  #plugs: readonly DeployedPlug[] = []
  /** usable versions by id */
  #records: ReadonlyMap<string, FunctionRecord> = new Map()
  /** all versions by name, newest first */
  #webscripts: ReadonlyMap<string, readonly DeployedWebscript[]> = new Map()
  /** names by id; a removed webscript has no versions */
  readonly #webscriptNames = new Map<string, string>()
  #announced: ReadonlySet<string> = new Set()
  readonly #reading = new KeyedMutex()
  readonly #programs: ReturnType<FunctionPrograms['of']>
  readonly #caller: FunctionCaller
  readonly #parts: ApiDependencies
  readonly #jobs: JobRunner

  constructor(options: FunctionsOptions) {
    const { tenant, programs, models, vault } = options
    this.#options = options
    const store = new FunctionStore(options.store)
    this.#store = store
    this.#caller = new FunctionCaller({
      ...options,
      pool: () => this.#programs.pool(),
      builder: programs.builder,
      store,
      secrets: (names) => {
        const service = vault?.()
        if (service === undefined)
          throw new AppError('PLUG_FAILED', 'this host does not serve the vault with its secrets')
        return service.open(names)
      },
    })
    this.#programs = programs.of(tenant, (program, line) => this.#caller.addLine(program, line))
    const processes = new ProcessRunner(this.#caller)
    const ofModels = new ModelRunner({ tenant, models: models ?? (() => undefined), store })
    this.#parts = {
      ...options,
      builder: programs.builder,
      caller: this.#caller,
      runnerOf: (type) => (type === 'models' ? ofModels : processes),
      store,
      queue: () => this.#jobs.queue,
      changed: () => this.#read(),
    }
    this.#jobs = new JobRunner({ ...options, handlers: lifecycleHandlers(this.#parts), timers: machineTimers })
  }

  as(caller: Caller, type: FunctionType): FunctionsApi {
    return functionApi(this.#parts, caller, type)
  }

  plugs(): readonly DeployedPlug[] {
    return this.#plugs
  }

  call(name: string, version: string, params: unknown, options: CallOptions): Promise<unknown> {
    return this.#call({ type: 'plugs', name, version }, 'execute', params, options)
  }

  webscripts(name: string): readonly DeployedWebscript[] {
    return this.#webscripts.get(name) ?? []
  }

  webscriptName(id: string): string | undefined {
    return this.#webscriptNames.get(id)
  }

  callWebscript(name: string, version: string, params: unknown, options: CallOptions): Promise<unknown> {
    return this.#call({ type: 'webscripts', name, version }, 'handle', params, options)
  }

  async checkReadable(caller: Caller, type: FunctionType, name: string, version: string): Promise<void> {
    refuseProtected(await this.#store.get({ type, name, version }), caller)
  }

  whileThere(type: FunctionType, name: string, version: string): Promise<readonly Write[] | undefined> {
    return this.#store.whileThere({ type, name, version })
  }

  cpuMs(): number {
    const { programs, tenant } = this.#options
    return programs.cpuMs(tenant)
  }

  async start(): Promise<void> {
    await this.#read()
    await this.#jobs.start()
    // reports at startup what the machine lacks to confine plugs, if there are any
    if (this.#plugs.length > 0) await this.#programs.pool()
  }

  async stop(): Promise<void> {
    // a running check ends with its process, and is repeated at the next start
    const jobs = this.#jobs.stop()
    await this.#programs.close()
    await jobs
    await this.#reading.idle()
  }

  gauges(): ReturnType<InternalFunctions['gauges']> {
    return { openJobs: this.#jobs.open }
  }

  async #call(id: FunctionId, method: string, params: unknown, options: CallOptions): Promise<unknown> {
    const record = this.#records.get(recordId(id))
    if (record === undefined) throw noVersion(id)
    return this.#caller.call(record, method, params, options)
  }

  /** Announces new and removed webscripts; retries a failed announcement with the next change. */
  async #announce(): Promise<void> {
    const { tenant, announceWebscripts } = this.#options
    if (announceWebscripts === undefined) return
    const ids = new Set([...this.#webscripts.keys()].map((name) => webscriptId(tenant, name)))
    const added = [...ids].filter((id) => !this.#announced.has(id))
    const removed = [...this.#announced].filter((id) => !ids.has(id))
    if (added.length + removed.length === 0) return
    await announceWebscripts(added, removed)
    this.#announced = ids
  }

  #read(): Promise<void> {
    const { tenant, isTaken, logger } = this.#options
    return this.#reading.run('', async () => {
      try {
        const indexed = await this.#store.indexed()
        const usable = [...indexed.all()].filter(isUsable)
        const records = new Map(usable.map((record) => [recordId(record), record]))
        const former = this.#records
        const isSame =
          former.size === records.size && [...records].every(([id, record]) => isSamePlug(former.get(id), record))
        if (!isSame) this.#plugs = usable.filter(({ name }) => !isTaken(name)).flatMap(plugOf)
        const groups = indexed.groups('webscripts')
        this.#webscripts = new Map(
          groups.map(({ name, versions }) => [name, versions.map((one) => webscriptOf(tenant, one))]),
        )
        for (const name of this.#webscripts.keys()) this.#webscriptNames.set(webscriptId(tenant, name), name)
        this.#records = records
        await this.#announce()
      } catch (error) {
        logger?.error(`functions of tenant ${tenant} could not be read: ${messageOf(error)}`)
      }
    })
  }
}

function isSamePlug(former: FunctionRecord | undefined, { revision, manifest }: FunctionRecord): boolean {
  if (former?.revision !== revision) return false
  return former.manifest === manifest || JSON.stringify(former.manifest) === JSON.stringify(manifest)
}

/** Once published and verified: a later build or a failed check does not stop rules that use it. */
function isUsable(record: FunctionRecord): boolean {
  // callers of a draft of a webscript name its version
  return (!record.draft || record.type === 'webscripts') && isRunning(record)
}

function webscriptOf(tenant: string, record: FunctionRecord): DeployedWebscript {
  const { name, version, draft, deprecated, status, manifest, rights, secret, failure } = record
  return {
    id: webscriptId(tenant, name),
    tenant,
    name,
    version,
    draft,
    deprecated,
    status,
    isRunning: isRunning(record),
    isPrivate: manifest.private !== false,
    ...(rights && { rights }),
    ...(failure !== undefined && { failure: failure.reason }),
    ...(secret !== undefined && manifest.allowHmac !== false && { secret }),
  }
}

function plugOf({ name, version, manifest }: FunctionRecord): DeployedPlug | readonly [] {
  const { type, interface: declared = {}, metadata = {} } = manifest
  if (type === undefined) return []
  const { states = [], input = [], output = [] } = declared
  const { description, category } = metadata
  return {
    name,
    version,
    kind: type,
    ...(description !== undefined && { description }),
    ...(category !== undefined && { category }),
    states,
    input,
    output,
  }
}

/** Returns the id of a webscript: 32 hex digits, the same for all versions and on every host. */
function webscriptId(tenant: string, name: string): string {
  return createHash('sha256')
    .update(JSON.stringify([tenant, name]))
    .digest('hex')
    .slice(0, 32)
}
