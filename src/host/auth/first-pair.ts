/** Ensures that the first tenant has a key pair: configured, stored, or generated and shown once. */
import { ALL_RIGHTS, AppError } from '#kernel'
import type { KeyPair, ApiKeys } from './api-keys.ts'

export type FirstPair =
  { readonly origin: 'made'; readonly pair: KeyPair } | { readonly origin: 'given' | 'found'; readonly key: string }

export interface Wanted {
  readonly tenant: string
  /** The configured pair; undefined: a store without pairs gets a generated one */
  readonly pair: { readonly key: string; readonly secret: string } | undefined
}

export async function firstPair(pairs: ApiKeys, { tenant, pair }: Wanted): Promise<FirstPair> {
  if (pair === undefined) {
    const known = await pairs.anyOf(tenant)
    return known === undefined
      ? { origin: 'made', pair: await pairs.make({ tenant, rights: ALL_RIGHTS }) }
      : { origin: 'found', key: known }
  }
  const owner = await pairs.ownerOf(pair.key)
  if (owner !== undefined && owner !== tenant) {
    throw new AppError('USAGE', `--key: the key "${pair.key}" belongs to the tenant "${owner}"; choose another key`)
  }
  const fits = owner !== undefined && (await pairs.check(pair.key, pair.secret)) !== undefined
  if (!fits) await pairs.add({ ...pair, tenant })
  return { origin: 'given', key: pair.key }
}
