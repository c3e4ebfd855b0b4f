/** Stores API keys with their scopes, and their secrets as salted hashes. */
import { hash, randomBytes, scrypt, type ScryptOptions, timingSafeEqual } from 'node:crypto'
import type { Collection, CollectionSpec } from '#storage'
import { ALL_RIGHTS, AppError, type Caller, isStoreConflict, type Rights, shown } from '#kernel'
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

export interface KeyPair {
  readonly key: string
  readonly secret: string
  readonly tenant: string
}

export interface NewKey {
  readonly tenant: string
  readonly name?: string
  readonly rights: Rights
  /** Time at which the key expires, in epoch ms */
  readonly expires?: number
}

/** Format of the records written here. Hosts that only know format 1, without scopes, cannot read them. */
const FORMAT = 2

interface KeySecret extends SecretHash {
  /** Time until which a replaced secret stays valid, in epoch ms */
  readonly until?: number
}

export interface KeyRecord extends NewKey {
  readonly format: number
  readonly createTime: string
  /** The newest first */
  readonly secrets: readonly KeySecret[]
}

/** Format 1: each key has all rights. */
type FormerRecord = SecretHash & Pick<KeyRecord, 'tenant' | 'createTime'>

interface ReadRecord {
  readonly value: KeyRecord
  readonly version: number
}

type StoredRecord = KeyRecord | FormerRecord

export const KEY_RECORDS: CollectionSpec<StoredRecord> = {
  name: 'key_pairs',
  version: 2,
  audited: true,
  fields: {
    tenant: { type: 'text', of: (record) => record.tenant },
    device: { type: 'text', of: (record) => ('rights' in record ? deviceOf(record.rights) : undefined) },
  },
}

/** Returns the only resource of a device key. */
function deviceOf({ scopes, resources }: Rights): string | undefined {
  const ids = isDevice(scopes) && resources !== undefined && 'ids' in resources ? resources.ids : []
  return ids.length === 1 ? ids[0] : undefined
}

function isDevice(scopes: Rights['scopes']): boolean {
  return scopes.length > 0 && scopes.every((scope) => scope === 'device')
}

export type Records = Pick<Collection<StoredRecord>, 'get' | 'ids' | 'put' | 'delete'>

export interface KeyEntry extends NewKey {
  readonly key: string
  readonly createTime: string
}

/** A caller by the secret of a key. */
export interface KeyCaller extends Caller {
  readonly rights: Rights
  readonly secretId: string
  readonly ends?: number
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

  async get(key: string): Promise<KeyEntry | undefined> {
    const stored = await this.#read(key)
    if (stored === undefined) return undefined
    const { format: _format, secrets: _secrets, ...entry } = stored.value
    return { key, ...entry }
  }

  async list(tenant?: string): Promise<readonly KeyEntry[]> {
    const where = tenant === undefined ? [] : [{ field: 'tenant', op: 'eq', value: tenant } as const]
    const found: KeyEntry[] = []
    for (let afterId: string | undefined; ;) {
      const keys = await this.#records.ids({ where, limit: PORTION, ...(afterId !== undefined && { afterId }) })
      for (const key of keys) {
        const entry = await this.get(key)
        if (entry !== undefined) found.push(entry)
      }
      afterId = keys.at(-1)
      if (keys.length < PORTION || afterId === undefined) return found
    }
  }

  /** Stores a new key with a random secret, which is visible only in this result. */
  async make(key: NewKey): Promise<KeyPair> {
    const pair = { key: randomBytes(8).toString('hex'), secret: newSecret(), tenant: key.tenant }
    await this.#put(pair, key)
    return pair
  }

  /** Makes a key for one resource. Throws `CONFLICT` if the resource has such a key, since only its owner may replace it. */
  async enrol(resource: string, { tenant, name }: Pick<NewKey, 'tenant' | 'name'>): Promise<KeyPair> {
    const key = `device-${hash('sha256', JSON.stringify([tenant, resource]), 'hex').slice(0, 24)}`
    const pair = { key, secret: newSecret(), tenant }
    try {
      const rights: Rights = { scopes: ['device'], resources: { ids: [resource] } }
      await this.#put(pair, { tenant, rights, ...(name !== undefined && { name }) }, 'absent')
    } catch (error) {
      if (!isStoreConflict(error)) throw error
      const right = 'an administrator can rotate or remove it'
      throw new AppError('CONFLICT', `${shown(resource)} is already enrolled with the key ${key}; ${right}`)
    }
    return pair
  }

  /** Stores a given pair, which has all rights. */
  add(pair: KeyPair): Promise<void> {
    return this.#put(pair, { tenant: pair.tenant, rights: ALL_RIGHTS })
  }

  /** Replaces the secret; the previous one stays valid for `graceMs`. Returns undefined for an unknown key. */
  async rotate(key: string, graceMs: number): Promise<KeyPair | undefined> {
    const stored = await this.#read(key)
    if (stored === undefined) return undefined
    const { value, version } = stored
    const secret = newSecret()
    const until = this.#now() + graceMs
    const former = graceMs > 0 ? value.secrets.slice(0, 1).map((one) => ({ ...one, until })) : []
    const secrets = [await hashSecret(secret, this.#cost), ...former]
    await this.#records.put(key, { ...value, secrets }, version)
    return { key, secret, tenant: value.tenant }
  }

  /** Returns false for an unknown key. */
  remove(key: string): Promise<boolean> {
    return this.#records.delete(key)
  }

  /** Returns the current rights of a secret that was checked before; undefined: it is no longer valid. */
  async again({ user, secretId }: Pick<KeyCaller, 'user' | 'secretId'>): Promise<KeyCaller | undefined> {
    const record = (await this.#read(user))?.value
    const secret = record?.secrets.find(({ salt }) => salt === secretId)
    return record && secret && this.#callerBy(user, record, secret)
  }

  /** Finds a device key of the tenant by its id, or by the resource that it alone is for. */
  async ofDevice(name: string, tenant: string): Promise<Omit<KeyCaller, 'secretId'> | undefined> {
    const where = [
      { field: 'tenant', op: 'eq', value: tenant },
      { field: 'device', op: 'eq', value: name },
    ] as const
    for (const key of [name, ...(await this.#records.ids({ where, limit: PORTION }))]) {
      const record = (await this.#read(key))?.value
      if (record?.tenant !== tenant || !isDevice(record.rights.scopes)) continue
      const { rights, expires: ends } = record
      if (ends === undefined || ends > this.#now()) return { tenant, user: key, rights, ...(ends && { ends }) }
    }
    return undefined
  }

  async check(key: string, secret: string, turn: Turn = OWN_TURN): Promise<KeyCaller | undefined> {
    const record = (await this.#read(key))?.value
    // hash even for unknown keys, so that timing does not reveal which keys exist
    const candidates: readonly KeySecret[] = record?.secrets ?? [await this.#anyHash()]
    for (const candidate of candidates) {
      const fits = await this.#queue.run(turn, () => fitsSecret(secret, candidate))
      if (fits) return record && this.#callerBy(key, record, candidate)
    }
    return undefined
  }

  #callerBy(user: string, { tenant, rights, expires }: KeyRecord, { salt, until }: KeySecret): KeyCaller | undefined {
    const ends = Math.min(expires ?? Infinity, until ?? Infinity)
    if (ends <= this.#now()) return undefined
    return { tenant, user, rights, secretId: salt, ...(ends < Infinity && { ends }) }
  }

  async #put({ key, secret }: KeyPair, about: NewKey, expect?: 'absent'): Promise<void> {
    const createTime = new Date(this.#now()).toISOString()
    const secrets = [await hashSecret(secret, this.#cost)]
    await this.#records.put(key, { format: FORMAT, ...about, createTime, secrets }, expect)
  }

  async #read(key: string): Promise<ReadRecord | undefined> {
    const stored = await this.#records.get(key)
    if (stored === undefined) return undefined
    const { value, version } = stored
    if (!('format' in value)) {
      const { tenant, createTime, ...secret } = value
      return { version, value: { format: 1, tenant, createTime, rights: ALL_RIGHTS, secrets: [secret] } }
    }
    if (value.format === FORMAT) return this.#withoutExpired(key, { version, value })
    throw new AppError(
      'STORE',
      `the key ${key} was written in format ${value.format}, this program reads format ${FORMAT}; update this program`,
    )
  }

  /** Removes expired secrets for good, so that they stay invalid when the clock is set back. */
  async #withoutExpired(key: string, stored: ReadRecord): Promise<ReadRecord> {
    const now = this.#now()
    const { value, version } = stored
    const secrets = value.secrets.filter(({ until = Infinity }) => until > now)
    if (secrets.length === value.secrets.length) return stored
    const rest = { ...value, secrets }
    try {
      return { value: rest, version: await this.#records.put(key, rest, version) }
    } catch (error) {
      if (!isStoreConflict(error)) throw error
      return { value: rest, version }
    }
  }

  #anyHash(): Promise<SecretHash> {
    this.#decoy ??= hashSecret(newSecret(), this.#cost)
    return this.#decoy
  }
}

function newSecret(): string {
  return randomBytes(24).toString('base64url')
}
