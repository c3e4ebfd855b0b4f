/** Returns the key that encrypts the stored secrets of tenants. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { randomKey, secretKey } from './data-folder.ts'

const FILE = 'seal.key'
const FORMER = 'subscriptions.key'
export const SEAL_KEYS = [FILE, FORMER] as const

/** Returns 32 bytes: the cluster's shared key, or the key in the data folder, created on first use. Throws `STORE`. */
export function sealKey({ store, data, sharedKeys }: Pick<Config, 'store' | 'data' | 'sharedKeys'>): Uint8Array {
  if (sharedKeys !== undefined) return sharedKeys.seal
  const loss = 'all secrets of the vault, of subscriptions and of model servers must then be set again'
  const file = existsSync(join(data, FORMER)) ? FORMER : FILE
  return (store.medium === 'memory' ? randomKey() : secretKey(data, file, loss)).slice(0, 32)
}
