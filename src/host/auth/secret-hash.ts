/** Secrets as they are stored: salted scrypt hashes, compared in constant time. */
import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'

/** A secret as it is stored: nothing leads back from it. Bytes are base64url. */
export interface SecretHash {
  readonly salt: string
  readonly hash: string
  /** scrypt's N; kept beside the hash, so that it can be raised */
  readonly cost: number
}

const BYTES = 32
const COST = 2 ** 15
const BLOCK = 8

export async function hashSecret(secret: string, cost: number = COST): Promise<SecretHash> {
  const salt = randomBytes(16)
  const hash = await derive(secret, salt, cost)
  return { salt: salt.toString('base64url'), hash: hash.toString('base64url'), cost }
}

/** Takes the same time whatever differs. */
export async function fitsSecret(secret: string, stored: SecretHash): Promise<boolean> {
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
