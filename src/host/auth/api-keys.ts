/** API keys and their secrets, stored as salted hashes. */
import { randomBytes, scrypt, type ScryptOptions, timingSafeEqual } from 'node:crypto'
import type { Collection, CollectionSpec } from '#storage'
import type { Caller } from './caller.ts'
import { HashQueue, type Turn } from './hash-queue.ts'

/** A secret as it is stored: nothing leads back from it. Bytes are base64url. */
interface SecretHash {
  readonly salt: string
  readonly hash: string
  /** scrypt's N; kept beside the hash, so that it can be raised */
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

/** Takes the same time whatever differs. */
async function fitsSecret(secret: string, stored: SecretHash): Promise<boolean> {
  const hash = await derive(secret, Buffer.from(stored.salt, 'base64url'), stored.cost)
  const expected = Buffer.from(stored.hash, 'base64url')
  return expected.length === BYTES && timingSafeEqual(hash, expected)
}

function derive(secret: string, salt: Buffer, cost: number): Promise<Buffer> {
  // It takes 128 * N * r bytes and a little; Node refuses to take more than it is told.
  const options: ScryptOptions = { N: cost, r: BLOCK, p: 1, maxmem: 256 * cost * BLOCK + 65_536 }
  return new Promise((resolve, reject) => {
    scrypt(secret, salt, BYTES, options, (error, hash) => (error === null ? resolve(hash) : reject(error)))
  })
}

/** An API key, its secret, and whose it is. The only time that a secret is seen is when the pair is made. */
export interface KeyPair {
  readonly key: string
  readonly secret: string
  readonly tenant: string
}

/** What is stored of a pair, under the key. */
export interface KeyRecord extends SecretHash {
  readonly tenant: string
  /** ISO 8601 */
  readonly createTime: string
}

export const KEY_RECORDS: CollectionSpec<KeyRecord> = {
  name: 'key_pairs',
  version: 1,
  fields: { tenant: { type: 'text', of: (record) => record.tenant } },
}

/** What this needs of the collection. */
export type Records = Pick<Collection<KeyRecord>, 'get' | 'ids' | 'put' | 'delete'>

/** What anybody may see of a pair. */
export interface KeyEntry {
  readonly key: string
  readonly tenant: string
  /** ISO 8601 */
  readonly createTime: string
}

/** Who has a pair. */
export interface KeyCaller extends Caller {
  /** of the record of the pair, which is another after every change */
  readonly keyVersion: number
}

/** What the host checks for itself. */
const OWN_TURN: Turn = { network: '', wasGood: true }

/** Keys that are read at once. */
const PORTION = 500

/** The key pairs of all tenants. */
export class ApiKeys {
  readonly #records: Records
  readonly #now: () => number
  readonly #queue = new HashQueue()
  readonly #cost: number | undefined
  #decoy: Promise<SecretHash> | undefined

  /** `now`: epoch ms. `cost`: of hashing, scrypt's N; tests take a small one. */
  constructor(records: Records, now: () => number, cost?: number) {
    this.#records = records
    this.#now = now
    this.#cost = cost
  }

  /** A key of a tenant; undefined when it has none. */
  async anyOf(tenant: string): Promise<string | undefined> {
    const [first] = await this.#records.ids({ where: [{ field: 'tenant', op: 'eq', value: tenant }], limit: 1 })
    return first
  }

  /** The tenant of a key; undefined for an unknown one. */
  async ownerOf(key: string): Promise<string | undefined> {
    return (await this.#records.get(key))?.value.tenant
  }

  /** All keys, or those of a tenant, by key. */
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

  /** A new random pair. */
  async make(tenant: string): Promise<KeyPair> {
    const pair = {
      key: randomBytes(8).toString('hex'),
      secret: randomBytes(24).toString('base64url'),
      tenant,
    }
    await this.add(pair)
    return pair
  }

  /** Stores a pair that was chosen elsewhere; one with the same key is replaced. */
  async add({ key, secret, tenant }: KeyPair): Promise<void> {
    const createTime = new Date(this.#now()).toISOString()
    await this.#records.put(key, { ...(await hashSecret(secret, this.#cost)), tenant, createTime })
  }

  /** True when there was one. Hosts that are told of no change remember a check for a minute. */
  remove(key: string): Promise<boolean> {
    return this.#records.delete(key)
  }

  /** Whether the pair of a caller is the one that was checked. */
  async isSame({ user, keyVersion }: Pick<KeyCaller, 'user' | 'keyVersion'>): Promise<boolean> {
    return (await this.#records.get(user))?.version === keyVersion
  }

  /** Undefined when the two do not belong together. `RATE_LIMITED` when too many are being checked already. */
  async check(key: string, secret: string, turn: Turn = OWN_TURN): Promise<KeyCaller | undefined> {
    const stored = await this.#records.get(key)
    // An unknown key must not answer faster than a known one.
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
