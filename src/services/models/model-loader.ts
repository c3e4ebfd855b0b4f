/** Loads uploaded models in the background, and stores the outcome in their records. */
import { AppError, type Logger, messageOf } from '#kernel'
import type { Seal } from '#platform'
import { isAway, type ModelPackage, type PackageOfFiles } from './driver.ts'
import type { LoadedModels } from './loaded-models.ts'
import type { ModelRecord, ModelState } from './model-record.ts'
import type { ModelStore } from './model-store.ts'
import { readZip } from './model-files.ts'
import { openedRemote } from './remote/sealed-remote.ts'

export interface ModelLoaderOptions {
  readonly loaded: LoadedModels
  readonly store: ModelStore
  readonly seal: Pick<Seal, 'open'>
  readonly recovered: (record: ModelRecord) => Promise<void>
  readonly logger?: Logger | undefined
}

/** Errors in the model itself, which its owner should see. */
const ABOUT_MODEL: ReadonlySet<string> = new Set(['VALIDATION', 'MODEL_FAILED', 'TOO_LARGE'])

export class ModelLoader {
  readonly #options: ModelLoaderOptions
  readonly #loading = new Map<string, Promise<void>>()

  constructor(options: ModelLoaderOptions) {
    this.#options = options
  }

  /** Loads a model in the background, once, and stores the outcome. `files`: files of its zip, if already read. */
  load(record: ModelRecord, files?: PackageOfFiles['files']): void {
    const { upload } = record
    if (this.#loading.has(upload)) return
    const loading = this.#storeOutcome(record, () => this.packageOf(record, files))
    this.#loading.set(upload, loading)
    void loading.finally(() => this.#loading.delete(upload))
  }

  /** Loads a model and returns the outcome. Rejects with errors that are not the model's fault, such as `CLOSED`. */
  async stateOf(
    model: Pick<ModelPackage, 'tenant' | 'digest'>,
    packageOf: () => Promise<ModelPackage>,
  ): Promise<ModelState> {
    try {
      return await this.#options.loaded.use(model, packageOf, async ({ frameworkVersion, signatures, warnings }) => {
        const known = frameworkVersion === undefined ? {} : { frameworkVersion }
        return { kind: 'ready', ...known, signatures, warnings } as const
      })
    } catch (error) {
      return failedState(error)
    }
  }

  /** `files`: files of the zip, if already read. Throws `STORE` when the model's headers cannot be unsealed. */
  async packageOf(record: ModelRecord, files?: PackageOfFiles['files']): Promise<ModelPackage> {
    const { name, framework, digest, remote } = record
    const { seal, store } = this.#options
    const { tenant } = store
    if (remote !== undefined) {
      return { tenant, name, framework, digest, remote: openedRemote(seal, { tenant, name }, remote) }
    }
    const found = files ?? (await readZip(framework, await store.zip(record)))
    return { tenant, name, framework, digest, files: found }
  }

  async idle(): Promise<void> {
    await Promise.all(this.#loading.values())
  }

  async #storeOutcome(record: ModelRecord, packageOf: () => Promise<ModelPackage>): Promise<void> {
    const { loaded, logger, store, recovered } = this.#options
    const { tenant } = store
    try {
      const { digest, name } = record
      const state = await this.stateOf({ tenant, digest }, packageOf)
      if (await store.storeState(record, state)) {
        if (record.state.kind === 'unsupported' && state.kind === 'ready') await recovered(record)
        return
      }
      // the upload was deleted or replaced, so unload its files
      if ((await store.find(name))?.value.digest !== digest) loaded.drop({ tenant, digest })
    } catch (error) {
      // otherwise the record stays unchanged: the model is loaded at the next start, or when called
      if (!(error instanceof AppError) || error.code !== 'CLOSED') {
        logger?.error(`model ${record.name} of tenant ${tenant} could not be loaded: ${messageOf(error)}`)
      }
    }
  }
}

function failedState(error: unknown): ModelState {
  if (!(error instanceof AppError)) throw error
  const { code, message: reason } = error
  if (code === 'UNSUPPORTED') return { kind: 'unsupported', reason }
  if (isAway(error)) return { kind: 'away', reason }
  if (!ABOUT_MODEL.has(code)) throw error
  return { kind: 'failed', reason }
}
