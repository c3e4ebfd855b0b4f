/** The models service put together: uploads over storage, loading in the background, and calls of whoever runs a model. */
import { AppError, messageOf } from '../../kernel/errors.ts'
import type { Caller } from '../../kernel/caller.ts'
import { perTenant } from '../../kernel/by-tenant.ts'
import { type Json, ownValue } from '../../kernel/json.ts'
import type { Logger } from '../../kernel/logger.ts'
import { SEALED, type Seal } from '../../machine/seal.ts'
import type { Storage, Stored } from '../../storage/contract.ts'
import {
  FRAMEWORKS,
  type Classified,
  type FrameworkInfo,
  type ModelInfo,
  type ModelOperation,
  type ModelsApi,
  type ModelsGauges,
  type ModelsService,
  type ModelUpload,
  type RemoteUpload,
  type Regressed,
} from './contract.ts'
import { GAVE_UP, type ModelDriver, type ModelPackage, type PackageOfFiles } from './driver.ts'
import { examplesOf } from './examples.ts'
import { LoadedModels } from './loaded-models.ts'
import { infoOf, type ModelRecord, type ModelState } from './model-record.ts'
import { ModelStore } from './model-store.ts'
import { byColumn, readCall } from './read-call.ts'
import { readPatch } from './read-patch.ts'
import { readRemoteUpload, readUpload } from './read-upload.ts'
import { readZip } from './read-zip.ts'

export interface ModelsOptions {
  readonly storage: Storage
  /** the first one that takes a model runs it */
  readonly drivers: readonly ModelDriver[]
  /** epoch ms */
  readonly now: () => number
  /** never the same twice */
  readonly newId: () => string
  /** for headers that servers of models want */
  readonly seal: Pick<Seal, 'close' | 'open'>
  readonly logger?: Logger
}

export function createModelsService(options: ModelsOptions): ModelsService {
  return new Models(options)
}

class Models implements ModelsService {
  readonly #options: ModelsOptions
  readonly #loaded: LoadedModels
  readonly #storeOf: (tenant: string) => ModelStore
  /** what is being loaded for its first time, by tenant and upload */
  readonly #loading = new Map<string, Promise<void>>()
  #calls = 0
  #instances = 0
  #failed = 0

  constructor(options: ModelsOptions) {
    this.#options = options
    this.#loaded = new LoadedModels(options.drivers)
    this.#storeOf = perTenant((tenant) => new ModelStore(options.storage.tenant(tenant)))
  }

  as(caller: Caller): ModelsApi {
    const { tenant } = caller
    const store = this.#storeOf(tenant)
    const record = async (name: string): Promise<ModelRecord> => (await store.get(name)).value
    return {
      list: async ({ name } = {}) => (await store.list(name)).map(infoOf),
      get: async (name) => infoOf(await record(name)),
      create: async (upload) => {
        if ((await store.find(upload.name)) !== undefined) {
          throw new AppError(
            'CONFLICT',
            `there is a model ${upload.name.slice(0, 100)} already; overwrite it at its own path`,
          )
        }
        return this.#upload(caller, upload, undefined)
      },
      replace: async (name, upload) => this.#upload(caller, { ...upload, name }, await store.get(name)),
      patch: async (name, body) => {
        const { description } = readPatch(body)
        const changed = await store.change(name, (before) => ({
          ...before,
          description,
          updatedBy: caller.user,
          updatedOn: this.#options.now(),
        }))
        if (changed === undefined) throw new AppError('NOT_FOUND', 'Model does not exist')
        return infoOf(changed)
      },
      remove: async (name) => {
        const removed = await store.remove(name)
        this.#loaded.drop({ tenant, digest: removed.digest })
        return infoOf(removed)
      },
      content: async (name) => store.content(await record(name)),
      examples: async (name) => {
        const { state } = this.#requireReady(tenant, await record(name))
        return examplesOf(state.signatures)
      },
      predict: async (name, body) => {
        const { values, isByColumn } = await this.#call(tenant, await record(name), 'predict', body)
        return isByColumn ? { outputs: byColumn(values) } : { predictions: values }
      },
      classify: async (name, body) => {
        return { result: await this.#result(tenant, await record(name), 'classify', body) } as Classified
      },
      regress: async (name, body) => {
        return { result: await this.#result(tenant, await record(name), 'regress', body) } as Regressed
      },
      frameworks: () => this.#frameworks(),
    }
  }

  async start(): Promise<void> {
    const { storage } = this.#options
    for (const tenant of await storage.tenants()) {
      for (const record of await this.#storeOf(tenant).unloaded()) this.#load(tenant, record)
    }
  }

  async stop(): Promise<void> {
    await this.#loaded.close()
    await Promise.all(this.#loading.values())
  }

  gauges(): ModelsGauges {
    return {
      loaded: this.#loaded.size,
      calls: this.#calls,
      instances: this.#instances,
      failed: this.#failed,
    }
  }

  async #upload(
    caller: Caller,
    given: ModelUpload | RemoteUpload,
    former: Stored<ModelRecord> | undefined,
  ): Promise<ModelInfo> {
    const { tenant, user } = caller
    const upload = this.#options.newId()
    const { files, zip, ...read } =
      'remote' in given ? this.#readRemote(tenant, given, upload, former) : await zipped(given)
    const now = this.#options.now()
    const { createdBy = user, createdOn = now, version = 0 } = former?.value ?? {}
    const record: ModelRecord = {
      ...read,
      version: version + 1,
      upload,
      size: zip?.length ?? 0,
      state: { kind: 'loading' },
      createdBy,
      createdOn,
      updatedBy: user,
      updatedOn: now,
    }
    await this.#storeOf(tenant).put(record, zip, former)
    if (former !== undefined && former.value.digest !== record.digest) {
      this.#loaded.drop({ tenant, digest: former.value.digest })
    }
    this.#load(tenant, record, files)
    return infoOf(record)
  }

  /** A server may have another model at any time: what was known of one upload is not that of the next. */
  #readRemote(
    tenant: string,
    given: RemoteUpload,
    upload: string,
    former: Stored<ModelRecord> | undefined,
  ): ReadUpload {
    const before = former?.value.remote
    const seal = (url: string, header: string, text: string): string | undefined => {
      const place = placeOf(tenant, given.name, url)
      if (!text.startsWith(SEALED)) return this.#options.seal.close(text, place + header)
      // what was told one server is not sent to another by somebody who does not know it
      const isKept = before !== undefined && place === placeOf(tenant, given.name, before.url)
      return isKept && ownValue(before.headers, header) === text ? text : undefined
    }
    return { ...readRemoteUpload(given, seal), digest: `remote/${upload}` }
  }

  /** Tries it once, in the background; what came of it is in its record. */
  #load(tenant: string, record: ModelRecord, files?: PackageOfFiles['files']): void {
    const key = `${tenant}/${record.upload}`
    if (this.#loading.has(key)) return
    const { digest } = record
    const loading = this.#tell(tenant, record, async () => {
      return this.#loaded.use(
        { tenant, digest },
        () => this.#packageOf(tenant, record, files),
        async ({ driver, model }) => {
          const { frameworkVersion, signatures, warnings } = model
          const known = frameworkVersion === undefined ? {} : { frameworkVersion }
          return { kind: 'ready', driver, ...known, signatures, warnings } as const
        },
      )
    })
    this.#loading.set(key, loading)
    void loading.finally(() => this.#loading.delete(key))
  }

  async #tell(tenant: string, record: ModelRecord, load: () => Promise<ModelState>): Promise<void> {
    const { logger } = this.#options
    try {
      await this.#storeOf(tenant).tell(record, await load().catch(failedState))
    } catch (error) {
      // it stays as it is, and is loaded at the next start, or when it is asked
      if (!(error instanceof AppError) || error.code !== 'CLOSED') {
        logger?.error(`model ${record.name} of tenant ${tenant} could not be loaded: ${messageOf(error)}`)
      }
    }
  }

  /** `files`: what is known of them. */
  async #packageOf(tenant: string, record: ModelRecord, files?: PackageOfFiles['files']): Promise<ModelPackage> {
    const { name, framework, digest, remote } = record
    if (remote !== undefined) {
      const place = placeOf(tenant, name, remote.url)
      const headers = Object.entries(remote.headers).map(([header, sealed]) => {
        return [header, this.#options.seal.open(sealed, place + header)] as const
      })
      return { tenant, name, framework, digest, remote: { ...remote, headers: Object.fromEntries(headers) } }
    }
    if (framework === 'custom') throw new AppError('STORE', `the model ${name} has neither files nor a server`)
    const found = files ?? (await readZip(framework, await this.#storeOf(tenant).zip(record)))
    return { tenant, name, framework, digest, files: found }
  }

  #requireReady(tenant: string, record: ModelRecord): ReadyRecord {
    const { state } = record
    if (state.kind === 'ready') return { ...record, state }
    if (state.kind === 'failed') throw new AppError('MODEL_FAILED', `the model cannot be used: ${state.reason}`)
    // a runtime may be there by now, or the host that loaded it may have stopped
    this.#load(tenant, record)
    if (state.kind === 'unsupported') throw new AppError('UNSUPPORTED', state.reason)
    if (state.kind === 'away') throw new AppError('REMOTE_FAILED', state.reason)
    throw new AppError('NOT_READY', 'Model not ready yet')
  }

  async #call(
    tenant: string,
    stored: ModelRecord,
    operation: ModelOperation,
    body: unknown,
  ): Promise<{ readonly values: readonly Json[]; readonly isByColumn: boolean }> {
    const record = this.#requireReady(tenant, stored)
    const { call, isByColumn } = readCall(record.framework, operation, body)
    this.#calls++
    this.#instances += call.instances.length
    try {
      const values = await this.#loaded.use(
        { tenant, digest: record.digest },
        () => this.#packageOf(tenant, record),
        ({ model }) => model.call(call),
      )
      if (values.length !== call.instances.length) {
        throw new AppError(
          'MODEL_FAILED',
          `the model gave ${values.length} values for ${call.instances.length} instances`,
        )
      }
      return { values, isByColumn }
    } catch (error) {
      this.#failed++
      if (error instanceof AppError && error.cause === GAVE_UP) await this.#giveUp(tenant, record, error)
      // before it is asked again, it is looked whether its server is there, and what it takes
      if (isAway(error)) this.#loaded.drop({ tenant, digest: record.digest })
      throw error
    }
  }

  /** It is not tried again before somebody uploads another. */
  async #giveUp(tenant: string, record: ModelRecord, { message }: AppError): Promise<void> {
    await this.#storeOf(tenant).tell(record, { kind: 'failed', reason: message })
    this.#loaded.drop({ tenant, digest: record.digest })
  }

  async #result(
    tenant: string,
    record: ModelRecord,
    operation: 'classify' | 'regress',
    body: unknown,
  ): Promise<readonly Json[]> {
    return (await this.#call(tenant, record, operation, body)).values
  }

  async #frameworks(): Promise<readonly FrameworkInfo[]> {
    const all = (await Promise.all(this.#options.drivers.map((driver) => driver.runtimes()))).flat()
    return [...FRAMEWORKS, 'custom' as const].map((framework) => {
      const runtimes = all.filter((one) => one.framework === framework)
      const versions = [...new Set(runtimes.map(({ framework_version: version }) => version))]
      return { framework, versions, runtimes }
    })
  }
}

/** What an upload says, and what there is of its files. */
type ReadUpload = Pick<ModelRecord, 'name' | 'framework' | 'description' | 'digest' | 'remote'> & {
  readonly files?: PackageOfFiles['files']
  readonly zip?: Uint8Array
}

async function zipped(given: ModelUpload): Promise<ReadUpload> {
  return { ...(await readUpload(given)), zip: given.file }
}

/** Where sealed headers belong: to a model, and to a server. */
function placeOf(tenant: string, name: string, url: string): string {
  return `${tenant}/models/${name}/${new URL(url).origin}/`
}

function isAway(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'REMOTE_FAILED' || error.code === 'REMOTE_LATE')
}

type ReadyRecord = ModelRecord & { readonly state: Extract<ModelState, { kind: 'ready' }> }

/** Why it could not be loaded, for its owner. What says nothing about the model is thrown on. */
function failedState(error: unknown): ModelState {
  if (!(error instanceof AppError)) throw error
  const { code, message: reason } = error
  if (code === 'UNSUPPORTED') return { kind: 'unsupported', reason }
  if (isAway(error)) return { kind: 'away', reason }
  if (!ABOUT_MODEL.has(code)) throw error
  return { kind: 'failed', reason }
}

const ABOUT_MODEL: ReadonlySet<string> = new Set(['VALIDATION', 'MODEL_FAILED', 'TOO_LARGE'])
