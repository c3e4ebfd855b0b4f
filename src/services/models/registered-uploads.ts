/** Registers uploads as versions in the function registry. */
import { AppError, type Caller } from '#kernel'
import type { FunctionsApi, InternalFunctions } from '#services/functions/contract'
import type { Write } from '#storage'
import type { ModelRecord } from './model-record.ts'

type Described = Pick<ModelRecord, 'name' | 'framework' | 'description'>

export class RegisteredUploads {
  readonly #registry: () => InternalFunctions | undefined

  /** `registry` returns undefined when this host has no registry. */
  constructor(registry: () => InternalFunctions | undefined) {
    this.#registry = registry
  }

  /** Undefined without a registry. */
  async publish(
    caller: Caller,
    { name, framework, description }: Described,
    files: ReadonlyMap<string, Uint8Array>,
  ): Promise<string | undefined> {
    const manifest = {
      name,
      runtime: `byoml-${framework}`,
      metadata: { ...(description !== '' && { description }) },
    }
    const text = new TextEncoder().encode(JSON.stringify(manifest))
    const change = await this.#api(caller)?.create(new Map([...files, ['model.json', text]]))
    return change?.entity.version
  }

  async describe(caller: Caller, { name, release, description }: ModelRecord): Promise<void> {
    if (release !== undefined) await gone(this.#api(caller)?.patchMetadata(name, release, { description }))
  }

  /** Schedules a replaced version for deletion a day later; drafts are left to their owner. */
  async supersede(caller: Caller, { name, release }: ModelRecord): Promise<void> {
    const api = this.#api(caller)
    if (api === undefined || release === undefined) return
    await gone(api.get(name, release).then(({ draft }) => (draft ? undefined : api.remove(name, release))))
  }

  /** Conditions to commit with a record, which fail once the version is deleted. */
  async whileThere({ name, release }: ModelRecord): Promise<readonly Write[]> {
    const registry = this.#registry()
    if (registry === undefined || release === undefined) return []
    const conditions = await registry.whileThere('models', name, release)
    if (conditions === undefined)
      throw new AppError('CONFLICT', `the model ${name} was deleted while it was uploaded; upload it again`)
    return conditions
  }

  async retract(caller: Caller, name: string, release: string): Promise<void> {
    await gone(this.#api(caller)?.remove(name, release, { force: true }))
  }

  async recover(tenant: string, { name, release, updatedBy: user }: ModelRecord): Promise<void> {
    const api = this.#api({ tenant, user })
    if (api === undefined || release === undefined) return
    const found = await api.get(name, release).catch(() => undefined)
    if (found?.status !== 'failed') return
    await api.rebuild(name, release, { ignoreChecks: true, comment: 'a runtime for it has been added' })
  }

  async remove(caller: Caller, { name, release }: ModelRecord): Promise<void> {
    if (release !== undefined) await gone(this.#api(caller)?.remove(name, undefined, { force: true }))
  }

  async checkReadable(caller: Caller, { name, release }: ModelRecord): Promise<void> {
    if (release === undefined) return
    const registry = this.#registry()
    if (registry === undefined)
      throw new AppError(
        'CLOSED',
        `this host does not serve functions, so it cannot check who may read '${name}@${release}'`,
      )
    await registry.checkReadable(caller, 'models', name, release)
  }

  #api(caller: Caller): FunctionsApi | undefined {
    return this.#registry()?.as(caller, 'models')
  }
}

async function gone(removing: Promise<unknown> | undefined): Promise<void> {
  try {
    await removing
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
  }
}
