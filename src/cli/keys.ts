/** `reflexarc keys list|add|remove`: manages the key pairs in a data folder or a PostgreSQL database. */
import type { Command } from 'commander'
import { DATA, dataFolder, type DefineCommand, tenantProblems } from './command.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ALL_RIGHTS, AppError } from '#kernel'
import { openMemoryBlobs, type Storage } from '#storage'
import { type Environment, openMedium, OPTIONS, type StoreChoice, storeOf } from '#host/spi'
import { ApiKeys, HOST_TENANT, KEY_RECORDS, type KeyEntry, tellKeyChange } from '#host/running'
import { tableLines } from './report/table.ts'
import type { Terminal } from './terminal.ts'

export const define: DefineCommand = (command, start) => {
  const keys = command
    .description(
      'The API keys in a data folder, each with the tenant that it opens. It works while no host runs on the folder, and on\n' +
        'a PostgreSQL (--store) while hosts run: they know of a change within a second.\n' +
        'A secret is shown once, when its key is added: only its hash is stored.',
    )
    .helpCommand(false)
  const add = (name: string, summary: string, action: (flags: KeysFlags, key?: string) => KeysAction): Command => {
    const one = keys
      .command(name)
      .summary(summary)
      .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
      .option('--store <address>', 'the PostgreSQL of the hosts, postgres://... (REFLEXARC_STORE, default sqlite:)')
      .option(...DATA)
      .option('--json', 'print JSON')
    const run = (flags: KeysFlags, key?: string) =>
      start((terminal) => runKeys(action(flags, key), flags, process.env, terminal, Date.now))
    if (name !== 'remove') return one.action((flags: KeysFlags) => run(flags))
    return one.argument('<key>', 'as list shows it').action((key: string, flags: KeysFlags) => run(flags, key))
  }
  add('list', 'list keys, without secrets', ({ tenant }) => ({ do: 'list', tenant })).option(
    '--tenant <name>',
    'only those of a tenant',
  )
  add('add', 'make a key and its secret, and show both', ({ tenant }) => ({ do: 'add', tenant })).option(
    '--tenant <name>',
    'whose data it opens (REFLEXARC_TENANT, default "default")',
  )
  add('remove', 'remove a key, so that it opens nothing any more', (_flags, key = '') => ({ do: 'remove', key }))
  keys.addHelpText('after', '\nExample:\n  reflexarc keys add --tenant north --data ./data')
}

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

/** Throws `USAGE` with all problems, `NOT_FOUND` for an unknown key, `STORE` for an unusable folder. */
export async function runKeys(
  action: KeysAction,
  flags: KeysFlags,
  env: Environment,
  terminal: Pick<Terminal, 'out'>,
  now: () => number,
): Promise<0> {
  const folder = dataFolder(flags, env)
  const isShown = flags.json === true
  const tell = (value: unknown, text: string): void => {
    terminal.out(isShown ? `${JSON.stringify(value)}\n` : `${text}\n`)
  }
  const chosen =
    action.do === 'add' ? (action.tenant ?? (env[OPTIONS.tenant.env] || OPTIONS.tenant.default)) : undefined
  const store = storeOf(flags.store ?? (env[OPTIONS.store.env] || OPTIONS.store.default))
  const location = store?.medium === 'postgres' ? { url: store.url } : { folder }
  refuseWrong(store, location, chosen ?? (action.do === 'list' ? action.tenant : undefined))
  await withPairs(location, now, async (pairs, changed) => {
    switch (action.do) {
      case 'list': {
        const entries = await pairs.list(action.tenant)
        return tell(entries, listed(entries, action.tenant))
      }
      case 'add': {
        const pair = await pairs.make({ tenant: chosen ?? OPTIONS.tenant.default, rights: ALL_RIGHTS })
        await changed()
        const { key, secret, tenant } = pair
        return tell(pair, `tenant  ${tenant}\nkey     ${key}\nsecret  ${secret}\nThe secret is not shown again.`)
      }
      case 'remove':
        if (!(await pairs.remove(action.key))) {
          throw new AppError(
            'NOT_FOUND',
            `unknown key ${JSON.stringify(action.key.slice(0, 200))}; "reflexarc keys list" shows all`,
          )
        }
        await changed()
        return tell({ key: action.key, removed: true }, `${action.key} is removed`)
    }
  })
  return 0
}

type Place = { readonly folder: string } | { readonly url: string }

function refuseWrong(store: StoreChoice | undefined, location: Place, tenant: string | undefined): void {
  const problems: string[] = []
  if (store === undefined || store.medium === 'memory') {
    problems.push('--store: keys are kept in sqlite: (with --data) or in postgres://user@host/database')
  }
  // A mistyped folder must not create a new store.
  if ('folder' in location && !existsSync(join(location.folder, 'state.db'))) {
    problems.push(
      `--data: no host has kept anything in ${location.folder} yet; name the data folder of a host that has started`,
    )
  }
  if (tenant !== undefined) problems.push(...tenantProblems(tenant))
  if (problems.length > 0) throw new AppError('USAGE', problems.join('\nerror: '))
}

async function withPairs(
  location: Place,
  now: () => number,
  work: (pairs: ApiKeys, changed: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const storage = await ('url' in location ? openShared(location.url) : openStore(location.folder))
  try {
    await work(new ApiKeys(storage.tenant(HOST_TENANT).collection(KEY_RECORDS), now), () => tellKeyChange(storage))
  } finally {
    await storage.close()
  }
}

async function openShared(url: string): Promise<Storage> {
  const { openPostgres } = await import('#storage/postgres')
  return openPostgres({ url, blobs: openMemoryBlobs() })
}

/** SQLite's error code for a locked file. */
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
  return tableLines([['key', 'tenant', 'made'], ...rows]).join('\n')
}
