/** The functions service put together: records and assets over storage, jobs that build, and processes that run. */
import { type JobPlaces, JobRunner } from '#jobs'
import { AppError, type Caller, KeyedMutex, type Logger, messageOf } from '#kernel'
import { machineTimers } from '#platform'
import type { Storage, Write } from '#storage'
import { createHash } from 'node:crypto'
import type {
  CallOptions,
  DeployedPlug,
  DeployedWebscript,
  FunctionLine,
  FunctionsApi,
  InternalFunctions,
  FunctionType,
  FunctionVersionId,
} from './contract.ts'
import type { ApiDependencies } from './changes/change-context.ts'
import { functionApi } from './function-api.ts'
import { FunctionCaller } from './function-caller.ts'
import type { FunctionPrograms } from './function-programs.ts'
import { type FunctionRecord, isRunning, recordId, refuseProtected } from './function-record.ts'
import { FunctionStore, noVersion } from './function-store.ts'
import { lifecycleHandlers } from './jobs/lifecycle-jobs.ts'
import type { InternalModels } from '#services/models/contract'
import type { InternalVault } from '#services/vault/contract'
import { ModelRunner } from './model-runner.ts'
import { ProcessRunner } from './version-runner.ts'

export interface FunctionsOptions extends Pick<ApiDependencies, 'now' | 'newId' | 'newSecret' | 'isTaken' | 'usesOf'> {
  /** of jobs, which the tenants of a host share */
  readonly places?: JobPlaces
  readonly storage: Storage
  readonly tenant: string
  /** of the host */
  readonly programs: FunctionPrograms
  /** what runs versions of models */
  readonly models?: () => InternalModels | undefined
  /** where secrets of manifests are; asked at each call */
  readonly vault?: (tenant: string) => InternalVault | undefined
  /** Tells whoever takes calls which webscripts a tenant has come to have, and which it has no more, by their ids. */
  readonly tellWebscripts?:
    ((tenant: string, ids: readonly string[], former: readonly string[]) => Promise<void>) | undefined
  readonly logger?: Logger
}

export function createFunctionsService(options: FunctionsOptions): InternalFunctions {
  return new Functions(options)
}

const NO_PLUGS: readonly DeployedPlug[] = []
const NO_WEBSCRIPTS: readonly DeployedWebscript[] = []

interface Deployed {
  readonly plugs: readonly DeployedPlug[]
  /** by id */
  readonly records: ReadonlyMap<string, FunctionRecord>
  /** all versions by name, the newest first */
  readonly webscripts: ReadonlyMap<string, readonly DeployedWebscript[]>
}

class Functions implements InternalFunctions {
  readonly #options: FunctionsOptions
  readonly #stores = new Map<string, FunctionStore>()
  readonly #deployed = new Map<string, Deployed>()
  /** by id; one that is gone has no versions any more */
  readonly #webscripts = new Map<string, { readonly tenant: string; readonly name: string }>()
  readonly #reading = new KeyedMutex()
  /** ids of webscripts that were told, by tenant */
  readonly #told = new Map<string, ReadonlySet<string>>()
  readonly #programs: ReturnType<FunctionPrograms['of']>
  readonly #caller: FunctionCaller
  readonly #parts: ApiDependencies
  readonly #jobs: JobRunner

  constructor(options: FunctionsOptions) {
    const { storage, tenant, programs, now, newId, newSecret, isTaken, usesOf, logger, places } = options
    this.#options = options
    const storeOf = (tenant: string): FunctionStore => this.#storeOf(tenant)
    this.#caller = new FunctionCaller({
      pool: () => this.#programs.pool(),
      builder: programs.builder,
      storeOf,
      now,
      secrets: (tenant, names) => {
        const vault = options.vault?.(tenant)
        if (vault === undefined) throw new AppError('PLUG_FAILED', 'this host serves no vault, which has its secrets')
        return vault.open(names)
      },
    })
    this.#programs = programs.of(tenant, (program, line) => this.#caller.said(program, line))
    const processes = new ProcessRunner(this.#caller)
    const models = new ModelRunner({ models: options.models ?? (() => undefined), storeOf })
    this.#parts = {
      builder: programs.builder,
      caller: this.#caller,
      runnerOf: (type) => (type === 'models' ? models : processes),
      storeOf,
      queueOf: () => this.#jobs.queue,
      now,
      newId,
      newSecret,
      isTaken,
      usesOf,
      changed: (tenant) => this.#read(tenant),
    }
    const handlers = lifecycleHandlers(this.#parts)
    this.#jobs = new JobRunner({
      tenant,
      store: storage.tenant(tenant),
      handlers,
      now,
      newId,
      timers: machineTimers,
      places,
      logger,
    })
  }

  as(caller: Caller, type: FunctionType): FunctionsApi {
    return functionApi(this.#parts, caller, type)
  }

  plugs(tenant: string): readonly DeployedPlug[] {
    return this.#deployed.get(tenant)?.plugs ?? NO_PLUGS
  }

  async call(tenant: string, name: string, version: string, params: unknown, options: CallOptions): Promise<unknown> {
    const id = { type: 'plugs', name, version } as const
    const record = this.#deployed.get(tenant)?.records.get(recordId(id))
    if (record === undefined) throw noVersion(id)
    return this.#caller.call(tenant, record, 'execute', params, options)
  }

  webscripts(tenant: string, name: string): readonly DeployedWebscript[] {
    return this.#deployed.get(tenant)?.webscripts.get(name) ?? NO_WEBSCRIPTS
  }

  webscriptOf(id: string): { readonly tenant: string; readonly name: string } | undefined {
    return this.#webscripts.get(id)
  }

  callWebscript(
    tenant: string,
    name: string,
    version: string,
    params: unknown,
    options: CallOptions,
  ): Promise<unknown> {
    const id = { type: 'webscripts', name, version } as const
    const record = this.#deployed.get(tenant)?.records.get(recordId(id))
    if (record === undefined) return Promise.reject(noVersion(id))
    return this.#caller.call(tenant, record, 'handle', params, options)
  }

  async checkReadable(caller: Caller, type: FunctionType, name: string, version: string): Promise<void> {
    refuseProtected(await this.#storeOf(caller.tenant).get({ type, name, version }), caller)
  }

  whileThere({ tenant, ...id }: FunctionVersionId): Promise<readonly Write[] | undefined> {
    return this.#storeOf(tenant).whileThere(id)
  }

  cpuMs(tenant: string): number {
    return this.#options.programs.cpuMs(tenant)
  }

  onLine(listener: (line: FunctionLine) => void): void {
    this.#caller.onLine(listener)
  }

  async start(): Promise<void> {
    for (const tenant of await this.#options.storage.tenants()) await this.#read(tenant)
    await this.#jobs.start()
    // what is not kept from functions is said at the start of a host that has some
    if ([...this.#deployed.values()].some(({ plugs }) => plugs.length > 0)) await this.#programs.pool()
  }

  async stop(): Promise<void> {
    // a check that is under way ends with its process, and is made again at the next start
    const jobs = this.#jobs.stop()
    await this.#programs.close()
    await jobs
    await this.#reading.idle()
  }

  gauges(): ReturnType<InternalFunctions['gauges']> {
    return { openJobs: this.#jobs.open }
  }

  #storeOf(tenant: string): FunctionStore {
    const known = this.#stores.get(tenant)
    if (known !== undefined) return known
    const store = new FunctionStore(this.#options.storage.tenant(tenant))
    this.#stores.set(tenant, store)
    return store
  }

  /** Those whose telling failed are told with the next change. */
  async #tellWebscripts(tenant: string, webscripts: ReadonlyMap<string, unknown>): Promise<void> {
    const { tellWebscripts } = this.#options
    if (tellWebscripts === undefined) return
    const told = this.#told.get(tenant) ?? new Set()
    const now = new Set([...webscripts.keys()].map((name) => webscriptId(tenant, name)))
    const [ids, former] = [[...now].filter((id) => !told.has(id)), [...told].filter((id) => !now.has(id))]
    if (ids.length + former.length === 0) return
    await tellWebscripts(tenant, ids, former)
    this.#told.set(tenant, now)
  }

  /** What rules may use follows the records. */
  #read(tenant: string): Promise<void> {
    return this.#reading.run(tenant, async () => {
      try {
        const indexed = await this.#storeOf(tenant).indexed()
        const all = [...indexed.all()].filter(isUsable)
        const records = new Map(all.map((record) => [recordId(record), record]))
        const former = this.#deployed.get(tenant)
        const isSame =
          former?.records.size === records.size &&
          [...records].every(([id, record]) => isSamePlug(former.records.get(id), record))
        const plugs = isSame ? former.plugs : all.filter(({ name }) => !this.#options.isTaken(name)).flatMap(plugOf)
        const webscripts = new Map(
          indexed
            .groups('webscripts')
            .map(({ name, versions }) => [name, versions.map((one) => webscriptOf(tenant, one))]),
        )
        for (const [name, [first]] of webscripts) if (first) this.#webscripts.set(first.id, { tenant, name })
        this.#deployed.set(tenant, { plugs, records, webscripts })
        await this.#tellWebscripts(tenant, webscripts)
      } catch (error) {
        this.#options.logger?.error(`functions of tenant ${tenant} could not be read: ${messageOf(error)}`)
      }
    })
  }
}

/** Its description may change after it was published. */
function isSamePlug(former: FunctionRecord | undefined, { revision, manifest }: FunctionRecord): boolean {
  if (former?.revision !== revision) return false
  return former.manifest === manifest || JSON.stringify(former.manifest) === JSON.stringify(manifest)
}

/** Published and seen to work once; what happens to it later, a new build or a check that fails, ends no rule. */
function isUsable(record: FunctionRecord): boolean {
  // who calls a draft of a webscript names its version
  return (!record.draft || record.type === 'webscripts') && isRunning(record)
}

function webscriptOf(tenant: string, record: FunctionRecord): DeployedWebscript {
  const { name, version, draft, deprecated, status, manifest, secret, failure } = record
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

/** 32 hex digits: the same for all versions, on every host. */
function webscriptId(tenant: string, name: string): string {
  return createHash('sha256')
    .update(JSON.stringify([tenant, name]))
    .digest('hex')
    .slice(0, 32)
}
