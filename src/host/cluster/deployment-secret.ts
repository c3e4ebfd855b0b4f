/** What all hosts of a deployment have to know and nobody else: the key of bearer tokens, and of marks between hosts. */
import { AppError } from '#kernel'
import type { CollectionSpec, Store } from '#storage'

interface SecretRecord {
  /** base64url */
  readonly key: string
}

const SECRETS: CollectionSpec<SecretRecord> = { name: 'secrets', version: 1, fields: {} }
const TOKENS = 'tokens'

/** The secret of the store; where it has none, it gets this host's. */
export async function deploymentSecret(store: Store, own: Uint8Array): Promise<Uint8Array> {
  const secrets = store.collection(SECRETS)
  const known = await secrets.get(TOKENS)
  if (known !== undefined) return Buffer.from(known.value.key, 'base64url')
  try {
    await secrets.put(TOKENS, { key: Buffer.from(own).toString('base64url') }, 'absent')
    return own
  } catch (error) {
    // another host was faster
    if (error instanceof AppError && error.code === 'CONFLICT') return deploymentSecret(store, own)
    throw error
  }
}
