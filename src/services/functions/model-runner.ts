/**
 * Runs versions of models: a name serves the newest published and verified version, or else the newest draft.
 *
 * MODELRUN-1 a version is served only after it was verified
 * MODELRUN-2 the best verified version replaces a removed one
 */
import { AppError, KeyedMutex, messageOf } from '#kernel'
import type { ModelRelease, ModelReleases, InternalModels } from '#services/models/contract'
import type { Assets } from './registry/archive.ts'
import { type BuildResult, checkAssets, digestOf } from './build.ts'
import { BuildRefusal } from './build-refusal.ts'
import { runtimeOf } from './function-caller.ts'
import { type FunctionId, type FunctionRecord, isRunning } from './function-record.ts'
import type { FunctionStore } from './function-store.ts'
import { latestOf } from './registry/select-versions.ts'
import type { VersionRunner } from './version-runner.ts'

export interface ModelRunnerOptions {
  readonly tenant: string
  readonly models: () => InternalModels | undefined
  readonly store: FunctionStore
}

const ABOUT_MODEL: ReadonlySet<string> = new Set(['VALIDATION', 'TOO_LARGE', 'MODEL_FAILED', 'UNSUPPORTED'])

export class ModelRunner implements VersionRunner {
  readonly #options: ModelRunnerOptions
  readonly #calls = new KeyedMutex()

  constructor(options: ModelRunnerOptions) {
    this.#options = options
  }

  build(record: FunctionRecord, assets: Assets): Promise<BuildResult> {
    const runtime = runtimeOf(record)
    checkAssets(runtime, assets)
    const digest = digestOf(this.#options.tenant, runtime, record.runtimeVersion, record.revision)
    const log = assets.has(runtime.project)
      ? `${runtime.project} is stored but not installed: /frameworks lists the runtimes of models`
      : 'its files are stored unchanged'
    return Promise.resolve({ digest, log: [log] })
  }

  async deploy(record: FunctionRecord): Promise<void> {
    const releases = this.#releases()
    try {
      await releases.deploy(await this.#releaseOf(record))
    } catch (error) {
      if (error instanceof AppError && ABOUT_MODEL.has(error.code)) throw new BuildRefusal(messageOf(error))
      throw error
    }
  }

  async ask(record: FunctionRecord): Promise<undefined> {
    await this.#releases().check(await this.#releaseOf(record))
  }

  verified(id: FunctionId): Promise<void> {
    return this.#calls.run(id.name, async () => {
      const served = await this.#releases().served(id.name)
      const best = await this.#best(id.name, served)
      if (best?.version === id.version) await this.#releases().serve(await this.#releaseOf(best))
    })
  }

  async rest({ name, version }: FunctionRecord): Promise<void> {
    await this.#options.models()?.releases.rest(name, version)
  }

  ended({ name, version }: FunctionId): Promise<void> {
    const { models } = this.#options
    if (models() === undefined) return Promise.resolve()
    return this.#calls.run(name, async () => {
      const releases = this.#releases()
      if ((await releases.served(name)) !== version) return
      const best = await this.#best(name, undefined)
      if (best === undefined) await releases.withdraw(name, version)
      else await releases.serve(await this.#releaseOf(best))
    })
  }

  async described({ name, version, manifest, updatedBy: user }: FunctionRecord): Promise<void> {
    const description = manifest.metadata?.description ?? ''
    await this.#options.models()?.releases.describe({ name, version, description, user })
  }

  /** Returns the best of the verified versions; the one being served counts as well if it may still be verified. */
  async #best(name: string, served: string | undefined): Promise<FunctionRecord | undefined> {
    const versions = await this.#options.store.versions('models', name)
    const isComing = ({ version, status }: FunctionRecord): boolean =>
      version === served && (status === 'pending' || status === 'deployed')
    return latestOf(
      versions.filter((one) => isRunning(one) || isComing(one)),
      {},
    )
  }

  #releases(): ModelReleases {
    const models = this.#options.models()
    if (models === undefined) throw new BuildRefusal('this host does not serve models')
    return models.releases
  }

  async #releaseOf(record: FunctionRecord): Promise<ModelRelease> {
    const { name, version, manifest, updatedBy: user, assets } = record
    const { framework } = runtimeOf(record)
    if (framework === undefined) throw new BuildRefusal(`${manifest.runtime} is not a runtime of models`)
    const { store } = this.#options
    const files = await store.assets(assets)
    const whileThere = () => store.whileThere(record)
    const description = manifest.metadata?.description ?? ''
    return { name, version, framework, description, user, files, whileThere }
  }
}
