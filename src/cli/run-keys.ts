/** What `keys` does, on a data folder that no host has open, or on a PostgreSQL whose hosts are told. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { AppError } from '#kernel'
import { openMemoryBlobs, type Storage } from '#storage'
import { type Environment, isTenant, openMedium, OPTIONS, type StoreChoice, storeOf } from '#host/spi'
import { ApiKeys, HOST_TENANT, KEY_RECORDS, type KeyEntry, tellKeyChange } from '#host/running'
import { tableLines } from './report/table.ts'
import type { Terminal } from './terminal.ts'

/** Options as the command line gives them. */
export interface KeysFlags {
  store?: string
  data?: string
  tenant?: string
  json?: boolean
}

export type KeysAction =
  | { readonly do: 'list'; readonly tenant: string | undefined }
  | { readonly do: 'add'; readonly tenant: string | undefined }
  | { readonly do: 'remove'; readonly key: string }

/** Throws `USAGE` with all that is wrong, `NOT_FOUND` for a key that is not there, `STORE` for a folder that cannot be used. */
export async function runKeys(
  action: KeysAction,
  flags: KeysFlags,
  env: Environment,
  terminal: Pick<Terminal, 'out'>,
  now: () => number,
): Promise<0> {
  const folder = resolve(flags.data ?? (env[OPTIONS.data.env] || OPTIONS.data.default))
  const isShown = flags.json === true
  const tell = (value: unknown, text: string): void => {
    terminal.out(isShown ? `${JSON.stringify(value)}\n` : `${text}\n`)
  }
  const chosen =
    action.do === 'add' ? (action.tenant ?? (env[OPTIONS.tenant.env] || OPTIONS.tenant.default)) : undefined
  const store = storeOf(flags.store ?? (env[OPTIONS.store.env] || OPTIONS.store.default))
  const place = store?.medium === 'postgres' ? { url: store.url } : { folder }
  refuseWrong(store, place, chosen ?? (action.do === 'list' ? action.tenant : undefined))
  await withPairs(place, now, async (pairs, changed) => {
    switch (action.do) {
      case 'list': {
        const entries = await pairs.list(action.tenant)
        return tell(entries, listed(entries, action.tenant))
      }
      case 'add': {
        const pair = await pairs.make(chosen ?? OPTIONS.tenant.default)
        await changed()
        const { key, secret, tenant } = pair
        return tell(pair, `tenant  ${tenant}\nkey     ${key}\nsecret  ${secret}\nThe secret is not shown again.`)
      }
      case 'remove':
        if (!(await pairs.remove(action.key))) {
          throw new AppError(
            'NOT_FOUND',
            `there is no key ${JSON.stringify(action.key.slice(0, 200))}; "reflexarc keys list" shows all`,
          )
        }
        await changed()
        return tell({ key: action.key, removed: true }, `${action.key} is removed`)
    }
  })
  return 0
}

/** Where key pairs are kept. */
type Place = { readonly folder: string } | { readonly url: string }

function refuseWrong(store: StoreChoice | undefined, place: Place, tenant: string | undefined): void {
  const problems: string[] = []
  if (store === undefined || store.medium === 'memory') {
    problems.push('--store: keys are kept in sqlite: (with --data) or in postgres://user@host/database')
  }
  // Whoever mistypes a folder must not get a new store.
  if ('folder' in place && !existsSync(join(place.folder, 'state.db'))) {
    problems.push(
      `--data: no host has kept anything in ${place.folder} yet; name the data folder of a host that has started`,
    )
  }
  if (tenant !== undefined && !isTenant(tenant)) {
    problems.push(
      `--tenant: "${tenant}" is not a valid tenant name; write letters, digits, dots, - or _, and none of ".", ".." and "webscripts"`,
    )
  }
  if (problems.length > 0) throw new AppError('USAGE', problems.join('\nerror: '))
}

async function withPairs(
  place: Place,
  now: () => number,
  work: (pairs: ApiKeys, changed: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const storage = await ('url' in place ? openShared(place.url) : openStore(place.folder))
  try {
    await work(new ApiKeys(storage.tenant(HOST_TENANT).collection(KEY_RECORDS), now), () => tellKeyChange(storage))
  } finally {
    await storage.close()
  }
}

/** Hosts may be at work on it. */
async function openShared(url: string): Promise<Storage> {
  const { openPostgres } = await import('#storage/postgres')
  return openPostgres({ url, blobs: openMemoryBlobs() })
}

/** The code of the database for a file that somebody else holds. */
const BUSY = 5

async function openStore(folder: string): Promise<Storage> {
  try {
    return await openMedium({ store: { medium: 'sqlite' }, data: folder })
  } catch (error) {
    const cause = error instanceof AppError ? (error.cause as { errcode?: number } | undefined) : undefined
    if (cause?.errcode !== BUSY) throw error
    throw new AppError(
      'STORE',
      `a host runs on the data folder ${folder}; stop it first, then its keys can be seen and changed`,
    )
  }
}

function listed(entries: readonly KeyEntry[], tenant: string | undefined): string {
  if (entries.length === 0) return tenant === undefined ? 'no keys' : `no keys of the tenant ${tenant}`
  const rows = entries.map((one) => [one.key, one.tenant, one.createTime])
  return tableLines([['key', 'tenant', 'made'], ...rows], new Set()).join('\n')
}
