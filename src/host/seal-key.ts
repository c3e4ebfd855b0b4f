/** The key under which a host seals the secrets that it keeps for its tenants. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { randomKey, secretKey } from './data-folder.ts'

const FILE = 'seal.key'
/** as it was called when it sealed secrets of subscriptions alone */
const FORMER = 'subscriptions.key'
export const SEAL_KEYS = [FILE, FORMER] as const

/** 32 bytes: that of all hosts of a cluster, or from the data folder; made there when it has none. `STORE`. */
export function sealKey({ store, data, sharedKeys }: Pick<Config, 'store' | 'data' | 'sharedKeys'>): Uint8Array {
  if (sharedKeys !== undefined) return sharedKeys.seal
  const loss = 'secrets of the vault, of subscriptions and of servers of models have to be given again'
  const file = existsSync(join(data, FORMER)) ? FORMER : FILE
  return (store.medium === 'memory' ? randomKey() : secretKey(data, file, loss)).slice(0, 32)
}
