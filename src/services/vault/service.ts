/** Keeps the secrets of a tenant in its store: one document per secret, with its sealed value. */
import { AppError, type Caller, makeIssue, refuse, Semaphore } from '#kernel'
import type { Seal } from '#platform'
import type { Collection, CollectionSpec, Store } from '#storage'
import { type OpenSecrets, SECRET_NAME, type SecretInfo, type VaultApi, type InternalVault } from './contract.ts'
import { SecretValue } from './secret-schema.ts'

export interface VaultOptions {
  readonly tenant: string
  readonly store: Store
  readonly seal: Seal
  readonly now: () => number
}

interface SecretRecord {
  readonly name: string
  readonly sealed: string
  readonly createdBy: string
  readonly createdAt: number
  readonly updatedBy: string
  readonly updatedAt: number
}

const SECRETS: CollectionSpec<SecretRecord> = { name: 'vault', version: 1, audited: true, fields: {} }
const NAME = new RegExp(SECRET_NAME)
const MAX_SECRETS = 500

export function createVaultService(options: VaultOptions): InternalVault {
  return new Vault(options)
}

class Vault implements InternalVault {
  readonly #options: VaultOptions
  readonly #collection: Collection<SecretRecord>
  readonly #turns = new Semaphore(1)

  constructor(options: VaultOptions) {
    this.#options = options
    this.#collection = options.store.collection(SECRETS)
  }

  as({ user }: Caller): VaultApi {
    return {
      list: async () => (await this.#collection.find({ limit: MAX_SECRETS })).map(({ value }) => infoOf(value)),
      put: (name, value) => this.#turns.run(() => this.#put(user, name, value)),
      remove: (name) =>
        this.#turns.run(async () => {
          const found = await this.#collection.get(name)
          if (found === undefined) throw new AppError('NOT_FOUND', `No secret '${name.slice(0, 100)}'`)
          await this.#collection.delete(name, found.version)
        }),
    }
  }

  async open(names: readonly string[]): Promise<OpenSecrets> {
    const found = await this.#collection.getMany([...names])
    const values = found.map(({ value: { name, sealed } }) => {
      return [name, this.#options.seal.open(sealed, this.#sealNameOf(name))] as const
    })
    // a recreated secret may have the same version, but never the same sealed text
    const revision = JSON.stringify(found.map(({ value: { name, sealed } }) => [name, sealed.slice(-24)]))
    return { values: new Map(values), revision }
  }

  async #put(user: string, name: string, secret: string): ReturnType<VaultApi['put']> {
    if (!NAME.test(name)) {
      throw refuse('The secret', [
        makeIssue('SECRET', '/name', 'must be 1 to 100 letters, digits and _, and no digit first'),
      ])
    }
    const { value } = SecretValue.read({ value: secret })
    const collection = this.#collection
    const former = await collection.get(name)
    if (former === undefined && (await collection.count()) >= MAX_SECRETS)
      throw new AppError('TOO_LARGE', `the tenant has the maximum of ${MAX_SECRETS} secrets; remove one first`)
    const now = this.#options.now()
    const { createdBy = user, createdAt = now } = former?.value ?? {}
    const record: SecretRecord = {
      name,
      sealed: this.#options.seal.close(value, this.#sealNameOf(name)),
      createdBy,
      createdAt,
      updatedBy: user,
      updatedAt: now,
    }
    await collection.put(name, record, former?.version ?? 'absent')
    return { secret: infoOf(record), created: former === undefined }
  }

  #sealNameOf(name: string): string {
    return `vault/${this.#options.tenant}/${name}`
  }
}

function infoOf({ name, createdBy, createdAt, updatedBy, updatedAt }: SecretRecord): SecretInfo {
  const [created, updated] = [createdAt, updatedAt].map((time) => new Date(time).toISOString())
  return { name, createdBy, createdAt: created ?? '', updatedBy, updatedAt: updated ?? '' }
}
