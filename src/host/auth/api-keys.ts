/** Stores API keys with their secrets, as salted hashes. */
import { randomBytes, scrypt, type ScryptOptions, timingSafeEqual } from 'node:crypto'
import type { Collection, CollectionSpec } from '#storage'
import type { Caller } from './caller.ts'
import { HashQueue, type Turn } from './hash-queue.ts'

interface SecretHash {
  readonly salt: string
  readonly hash: string
  /** The N parameter of scrypt, stored with the hash so that N can be raised later */
  readonly cost: number
}

const BYTES = 32
const COST = 2 ** 15
const BLOCK = 8

async function hashSecret(secret: string, cost: number = COST): Promise<SecretHash> {
  const salt = randomBytes(16)
  const hash = await derive(secret, salt, cost)
  return { salt: salt.toString('base64url'), hash: hash.toString('base64url'), cost }
}

async function fitsSecret(secret: string, stored: SecretHash): Promise<boolean> {
  const hash = await derive(secret, Buffer.from(stored.salt, 'base64url'), stored.cost)
  const expected = Buffer.from(stored.hash, 'base64url')
  return expected.length === BYTES && timingSafeEqual(hash, expected)
}

function derive(secret: string, salt: Buffer, cost: number): Promise<Buffer> {
  // scrypt takes a little more than 128 * N * r bytes; Node rejects more than `maxmem`
  const options: ScryptOptions = { N: cost, r: BLOCK, p: 1, maxmem: 256 * cost * BLOCK + 65_536 }
  return new Promise((resolve, reject) => {
    scrypt(secret, salt, BYTES, options, (error, hash) => (error === null ? resolve(hash) : reject(error)))
  })
}

/** An API key with its secret and tenant. The secret is visible only when the pair is created. */
export interface KeyPair {
  readonly key: string
  readonly secret: string
  readonly tenant: string
}

export interface KeyRecord extends SecretHash {
  readonly tenant: string
  readonly createTime: string
}

export const KEY_RECORDS: CollectionSpec<KeyRecord> = {
  name: 'key_pairs',
  version: 1,
  fields: { tenant: { type: 'text', of: (record) => record.tenant } },
}

export type Records = Pick<Collection<KeyRecord>, 'get' | 'ids' | 'put' | 'delete'>

export interface KeyEntry {
  readonly key: string
  readonly tenant: string
  readonly createTime: string
}

export interface KeyCaller extends Caller {
  /** Version of the pair's record, which changes whenever the record does */
  readonly keyVersion: number
}

const OWN_TURN: Turn = { network: '', wasGood: true }

const PORTION = 500

export class ApiKeys {
  readonly #records: Records
  readonly #now: () => number
  readonly #queue = new HashQueue()
  readonly #cost: number | undefined
  #decoy: Promise<SecretHash> | undefined

  /** `now`: epoch ms. `cost`: the N parameter of scrypt; small in tests. */
  constructor(records: Records, now: () => number, cost?: number) {
    this.#records = records
    this.#now = now
    this.#cost = cost
  }

  async anyOf(tenant: string): Promise<string | undefined> {
    const [first] = await this.#records.ids({ where: [{ field: 'tenant', op: 'eq', value: tenant }], limit: 1 })
    return first
  }

  async ownerOf(key: string): Promise<string | undefined> {
    return (await this.#records.get(key))?.value.tenant
  }

  async list(tenant?: string): Promise<readonly KeyEntry[]> {
    const where = tenant === undefined ? [] : [{ field: 'tenant', op: 'eq', value: tenant } as const]
    const found: KeyEntry[] = []
    for (let afterId: string | undefined; ;) {
      const keys = await this.#records.ids({ where, limit: PORTION, ...(afterId !== undefined && { afterId }) })
      for (const key of keys) {
        const stored = await this.#records.get(key)
        if (stored !== undefined) found.push({ key, tenant: stored.value.tenant, createTime: stored.value.createTime })
      }
      afterId = keys.at(-1)
      if (keys.length < PORTION || afterId === undefined) return found
    }
  }

  async make(tenant: string): Promise<KeyPair> {
    const pair = {
      key: randomBytes(8).toString('hex'),
      secret: randomBytes(24).toString('base64url'),
      tenant,
    }
    await this.add(pair)
    return pair
  }

  async add({ key, secret, tenant }: KeyPair): Promise<void> {
    const createTime = new Date(this.#now()).toISOString()
    await this.#records.put(key, { ...(await hashSecret(secret, this.#cost)), tenant, createTime })
  }

  /** Returns false for an unknown key. Hosts without change notifications trust an earlier check for a minute. */
  remove(key: string): Promise<boolean> {
    return this.#records.delete(key)
  }

  async isSame({ user, keyVersion }: Pick<KeyCaller, 'user' | 'keyVersion'>): Promise<boolean> {
    return (await this.#records.get(user))?.version === keyVersion
  }

  async check(key: string, secret: string, turn: Turn = OWN_TURN): Promise<KeyCaller | undefined> {
    const stored = await this.#records.get(key)
    // hash even for unknown keys, so that timing does not reveal which keys exist
    const fits = await this.#queue.run(turn, async () => fitsSecret(secret, stored?.value ?? (await this.#anyHash())))
    return fits && stored !== undefined
      ? { tenant: stored.value.tenant, user: key, keyVersion: stored.version }
      : undefined
  }

  #anyHash(): Promise<SecretHash> {
    this.#decoy ??= hashSecret(randomBytes(24).toString('base64url'), this.#cost)
    return this.#decoy
  }
}
