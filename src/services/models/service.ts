/** Combines the parts of the models service: uploads, loading in the background, and calls through drivers. */
import { AppError, type Caller, type Json, KeyedMutex, type Logger, retryOnConflict } from '#kernel'
import type { Seal } from '#platform'
import type { Store, Stored } from '#storage'
import type { Classified, ModelsApi, ModelsGauges, InternalModels, Regressed } from './contract.ts'
import type { InternalFunctions } from '#services/functions/contract'
import { GAVE_UP, isAway, type ModelCall } from './driver.ts'
import { FRAMEWORKS } from './frameworks.ts'
import type { LoadedModels } from './loaded-models.ts'
import { digestOf, readZip } from './model-files.ts'
import { ModelLoader } from './model-loader.ts'
import { infoOf, type ModelRecord, type ModelState, nextRecord } from './model-record.ts'
import { type ExamplesRequest, type FrameworkInfo, type ModelInfo, Replacement, Upload } from './model-schema.ts'
import { ModelStore } from './model-store.ts'
import { RegisteredUploads } from './registered-uploads.ts'
import { byColumn, readExamples, readPredict, Releases } from './releases.ts'
import { sealedRemote, type SealedRemote } from './remote/sealed-remote.ts'
import { examplesOf } from './signatures.ts'

export interface ModelsOptions {
  readonly tenant: string
  readonly store: Store
  readonly loaded: LoadedModels
  readonly now: () => number
  readonly newId: () => string
  readonly seal: Pick<Seal, 'close' | 'open'>
  /** returns the registry in which uploads become versions; called for each upload */
  readonly registry?: () => InternalFunctions | undefined
  readonly logger?: Logger
}

/** number of attempts to store an upload after conflicts */
const MAX_TRIES = 10

export class Models implements InternalModels {
  readonly #options: ModelsOptions
  readonly #loaded: LoadedModels
  readonly #store: ModelStore
  readonly #loader: ModelLoader
  readonly #registered: RegisteredUploads
  readonly releases: Releases
  readonly #turns = new KeyedMutex()
  #isClosing = false
  #calls = 0
  #instances = 0
  #failed = 0

  constructor(options: ModelsOptions) {
    this.#options = options
    this.#loaded = options.loaded
    const { tenant, now, newId, logger, seal, registry = () => undefined } = options
    const store = new ModelStore(tenant, options.store)
    this.#store = store
    this.#registered = new RegisteredUploads(registry)
    const recovered = (record: ModelRecord): Promise<void> => this.#registered.recover(tenant, record)
    this.#loader = new ModelLoader({ loaded: this.#loaded, store, seal, recovered, logger })
    this.releases = new Releases({ store, loader: this.#loader, loaded: this.#loaded, now, newId })
  }

  as(caller: Caller): ModelsApi {
    const store = this.#store
    const record = async (name: string): Promise<ModelRecord> => (await store.get(name)).value
    // other hosts and running loads may write at the same time
    const inTurn = <T>(name: string, work: () => Promise<T>): Promise<T> =>
      this.#turns.run(name, () => retryOnConflict(work))
    const examined = async (name: string, operation: 'classify' | 'regress', body: ExamplesRequest) =>
      this.#call(await record(name), ({ framework }) => readExamples(framework, operation, body))
    return {
      list: async ({ name } = {}) => (await store.list(name)).map((one) => infoOf(this.#lookAgain(one))),
      get: async (name) => infoOf(this.#lookAgain(await record(name))),
      create: async (sent) => {
        const upload = Upload.read(sent)
        const { name } = upload
        return inTurn(name, async () => {
          if ((await store.find(name)) === undefined) return this.#upload(caller, upload, undefined)
          throw new AppError('CONFLICT', `the model ${name} already exists; use its own path to overwrite it`)
        })
      },
      replace: (name, sent) =>
        inTurn(name, async () => {
          const former = await store.get(name)
          return this.#upload(caller, { ...Replacement.read(sent), name }, former)
        }),
      patch: async (name, change) => {
        const description = change.description ?? change.metadata?.description ?? ''
        const updated = { description, updatedBy: caller.user, updatedOn: this.#options.now() }
        const changed = await inTurn(name, () => store.change(name, (before) => ({ ...before, ...updated })))
        if (changed === undefined) throw new AppError('NOT_FOUND', 'Model does not exist')
        await this.#registered.describe(caller, changed)
        return infoOf(changed)
      },
      remove: (name) => inTurn(name, () => this.#remove(caller, name)),
      content: async (name) => {
        const found = await record(name)
        await this.#registered.checkReadable(caller, found)
        return store.content(found)
      },
      examples: async (name) => {
        const { state } = this.#requireReady(await record(name))
        return examplesOf(state.signatures)
      },
      predict: async (name, body) => {
        const values = await this.#call(await record(name), ({ framework }) => readPredict(framework, body))
        return body.inputs === undefined ? { predictions: values } : { outputs: byColumn(values) }
      },
      classify: async (name, body) => ({ result: await examined(name, 'classify', body) }) as Classified,
      regress: async (name, body) => ({ result: await examined(name, 'regress', body) }) as Regressed,
      frameworks: () => this.#frameworks(),
    }
  }

  async start(): Promise<void> {
    for (const record of await this.#store.unloaded()) this.#loader.load(record)
  }

  async stop(): Promise<void> {
    this.#isClosing = true
    this.#loaded.closeOf(this.#options.tenant)
    await this.#loader.idle()
  }

  gauges(): ModelsGauges {
    return { calls: this.#calls, instances: this.#instances, failed: this.#failed }
  }

  async #upload(caller: Caller, sent: Upload, former: Stored<ModelRecord> | undefined): Promise<ModelInfo> {
    const upload = this.#options.newId()
    const read = await this.#read(sent, upload, former?.value.remote)
    // a remote model cannot be built
    const release = read.files === undefined ? undefined : await this.#registered.publish(caller, read, read.files)
    const { files, zip, ...known } = read
    const refusal = await this.#refusal(read)
    const record = nextRecord(former?.value, {
      ...known,
      ...(release !== undefined && { release }),
      upload,
      state: refusal === undefined ? { kind: 'loading' } : { kind: 'unsupported', reason: refusal },
      updatedBy: caller.user,
      updatedOn: this.#options.now(),
    })
    const installed = await this.#install(caller, record, zip, former)
    this.#loader.load(installed, files)
    return infoOf(installed)
  }

  async #refusal({ name, framework, digest, files }: UploadedModel): Promise<string | undefined> {
    if (files === undefined) return undefined
    return this.#loaded.refusal({ tenant: this.#options.tenant, name, framework, digest, files })
  }

  /** Tries a refused model again, except boosters, which would have to be read for this. */
  #lookAgain(record: ModelRecord): ModelRecord {
    const { state, framework, name, digest } = record
    if (state.kind !== 'unsupported' || record.remote !== undefined || framework === 'xgboost') return record
    void this.#loaded.refusal({ tenant: this.#options.tenant, name, framework, digest, files: new Map() }).then(
      (refusal) => {
        if (refusal === undefined && !this.#isClosing) this.#loader.load(record)
      },
      () => undefined,
    )
    return record
  }

  async #read(sent: Upload, upload: string, former: SealedRemote | undefined): Promise<UploadedModel> {
    const { name, framework = 'custom', description = '' } = sent
    if ('file' in sent) {
      const files = await readZip(framework, sent.file)
      return { name, framework, description, digest: digestOf(framework, files), files, zip: sent.file }
    }
    const remote = sealedRemote(this.#options.seal, { tenant: this.#options.tenant, name }, sent.remote, former)
    // a server may change its model at any time, so do not reuse the results of an earlier upload
    return { name, framework, description, digest: `remote/${upload}`, remote }
  }

  /** `CONFLICT` when another upload came first or its version is gone; the registry may have installed it already. */
  async #install(
    caller: Caller,
    record: ModelRecord,
    zip: Uint8Array | undefined,
    former: Stored<ModelRecord> | undefined,
    tries = 1,
  ): Promise<ModelRecord> {
    const { name, release, digest } = record
    try {
      const conditions = await this.#registered.whileThere(record)
      await this.#store.put(record, zip, former, conditions)
    } catch (error) {
      const isRace = error instanceof AppError && error.code === 'CONFLICT'
      const now = isRace ? await this.#store.find(name) : undefined
      if (release !== undefined && now?.value.release === release) return now.value
      // the previous upload finished loading meanwhile, or its version advanced
      const isSame = now?.value.upload === former?.value.upload
      if (isRace && isSame && tries < MAX_TRIES) return this.#install(caller, record, zip, now, tries + 1)
      if (release !== undefined) await this.#registered.retract(caller, name, release)
      throw error
    }
    if (former !== undefined) {
      if (former.value.digest !== digest) this.#drop(former.value.digest)
      await this.#registered.supersede(caller, former.value)
    }
    return record
  }

  async #remove(caller: Caller, name: string): Promise<ModelInfo> {
    const { value: found } = await this.#store.get(name)
    const removed = await this.#store.remove(name, async (record) => {
      // remove versions first, so that none of them takes the free name
      await this.#registered.remove(caller, record)
      return true
    })
    // otherwise the registry has already removed the record
    const { digest } = removed ?? found
    this.#drop(digest)
    return infoOf(removed ?? found)
  }

  #requireReady(record: ModelRecord): ReadyRecord {
    const { state } = record
    if (state.kind === 'ready') return { ...record, state }
    if (state.kind === 'failed') throw new AppError('MODEL_FAILED', `the model cannot be used: ${state.reason}`)
    // a runtime may have been added, or the host that was loading may have stopped
    this.#loader.load(record)
    if (state.kind === 'unsupported') throw new AppError('UNSUPPORTED', state.reason)
    if (state.kind === 'away') throw new AppError('REMOTE_FAILED', state.reason)
    throw new AppError('NOT_READY', 'Model not ready yet')
  }

  async #call(stored: ModelRecord, callOf: (record: ModelRecord) => ModelCall): Promise<readonly Json[]> {
    const record = this.#requireReady(stored)
    const call = callOf(record)
    this.#calls++
    this.#instances += call.instances.length
    try {
      const values = await this.#loaded.use(
        { tenant: this.#options.tenant, digest: record.digest },
        () => this.#loader.packageOf(record),
        (model) => model.call(call),
      )
      if (values.length !== call.instances.length) {
        const message = `the model returned ${values.length} values for ${call.instances.length} instances`
        throw new AppError('MODEL_FAILED', message)
      }
      return values
    } catch (error) {
      this.#failed++
      if (error instanceof AppError && error.cause === GAVE_UP) await this.#giveUp(record, error)
      // the next call will check the server and its inputs again
      if (isAway(error)) this.#drop(record.digest)
      throw error
    }
  }

  /** Records that loading failed for good; only another upload tries again. */
  async #giveUp(record: ModelRecord, { message }: AppError): Promise<void> {
    await this.#store.storeState(record, { kind: 'failed', reason: message })
    this.#drop(record.digest)
  }

  #drop(digest: string): void {
    this.#loaded.drop({ tenant: this.#options.tenant, digest })
  }

  async #frameworks(): Promise<readonly FrameworkInfo[]> {
    const all = await this.#loaded.runtimes()
    return FRAMEWORKS.map((framework) => {
      const runtimes = all.filter((one) => one.framework === framework)
      const versions = [...new Set(runtimes.map(({ framework_version: version }) => version))]
      const [first] = runtimes
      return { framework, versions, ...(first && { default_runtime: first }), runtimes }
    })
  }
}

type UploadedModel = Pick<ModelRecord, 'name' | 'framework' | 'description' | 'digest' | 'remote'> & {
  readonly files?: ReadonlyMap<string, Uint8Array>
  readonly zip?: Uint8Array
}

type ReadyRecord = ModelRecord & { readonly state: Extract<ModelState, { kind: 'ready' }> }
