/** Loads the models that tenants uploaded, in the background, and keeps in their records what came of it. */
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
  /** something runs a model that nothing ran before */
  readonly recovered: (record: ModelRecord) => Promise<void>
  readonly logger?: Logger | undefined
}

/** What tells its owner something about the model. */
const ABOUT_MODEL: ReadonlySet<string> = new Set(['VALIDATION', 'MODEL_FAILED', 'TOO_LARGE'])

export class ModelLoader {
  readonly #options: ModelLoaderOptions
  /** what is being loaded for its first time, by upload */
  readonly #loading = new Map<string, Promise<void>>()

  constructor(options: ModelLoaderOptions) {
    this.#options = options
  }

  /** Tries it once, in the background; what came of it is in its record. `files`: those of its zip, when they are at hand. */
  load(record: ModelRecord, files?: PackageOfFiles['files']): void {
    const { upload } = record
    if (this.#loading.has(upload)) return
    const loading = this.#tell(record, () => this.packageOf(record, files))
    this.#loading.set(upload, loading)
    void loading.finally(() => this.#loading.delete(upload))
  }

  /** What came of loading it. Rejects with what says nothing about the model, such as `CLOSED`. */
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

  /** `files`: those of its zip, when they are at hand. `STORE` when its headers cannot be opened. */
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

  /** Resolves when nothing is being loaded any more. */
  async idle(): Promise<void> {
    await Promise.all(this.#loading.values())
  }

  async #tell(record: ModelRecord, packageOf: () => Promise<ModelPackage>): Promise<void> {
    const { loaded, logger, store, recovered } = this.#options
    const { tenant } = store
    try {
      const { digest, name } = record
      const state = await this.stateOf({ tenant, digest }, packageOf)
      if (await store.tell(record, state)) {
        if (record.state.kind === 'unsupported' && state.kind === 'ready') await recovered(record)
        return
      }
      // it was deleted or replaced meanwhile: nobody asks these files any more
      if ((await store.find(name))?.value.digest !== digest) loaded.drop({ tenant, digest })
    } catch (error) {
      // it stays as it is, and is loaded at the next start, or when it is asked
      if (!(error instanceof AppError) || error.code !== 'CLOSED') {
        logger?.error(`model ${record.name} of tenant ${tenant} could not be loaded: ${messageOf(error)}`)
      }
    }
  }
}

/** Why it could not be loaded, for its owner. What says nothing about the model is thrown on. */
function failedState(error: unknown): ModelState {
  if (!(error instanceof AppError)) throw error
  const { code, message: reason } = error
  if (code === 'UNSUPPORTED') return { kind: 'unsupported', reason }
  if (isAway(error)) return { kind: 'away', reason }
  if (!ABOUT_MODEL.has(code)) throw error
  return { kind: 'failed', reason }
}
