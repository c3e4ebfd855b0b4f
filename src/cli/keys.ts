/** `reflexarc keys list|add|rotate|remove`: manages keys of a running host, or of a data folder or PostgreSQL. */
import type { Command } from 'commander'
import { DATA, dataFolder, type DefineCommand, gather, tenantProblems } from './command.ts'
import { connected } from './connected.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, durationMs } from '#kernel'
import { openMemoryBlobs, type Storage } from '#storage'
import { type Environment, openMedium, OPTIONS, type StoreChoice, storeOf } from '#host/spi'
import {
  ApiKeys,
  HOST_TENANT,
  KEY_RECORDS,
  type KeyPair,
  newKeyOf,
  type ShownKey,
  shownKey,
  tellKeyChange,
} from '#host/running'
import { pathOf, typed } from '#services/shared/client'
import { type ConnectFlags, connectOperator } from './functions/connect.ts'
import { tableLines } from './report/table.ts'
import type { Terminal } from './terminal.ts'

export const define: DefineCommand = (command, start) => {
  const keys = command
    .description(
      'Manages the API keys of a host, each with its tenant and scopes. With --url it calls a running host; on the machine of\n' +
        'the host, its data folder (--data) replaces --key and --secret. Without --url it changes the data folder of a stopped\n' +
        'host, or a PostgreSQL (--store) even while hosts run; they notice a change within a second.\n' +
        'A secret is shown once, when it is created; only its hash is stored.',
    )
    .helpCommand(false)
  const define = (name: string, summary: string): Command =>
    connected(keys.command(name))
      .summary(summary)
      .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
      .option('--store <address>', 'PostgreSQL of the hosts, postgres://... (REFLEXARC_STORE, default sqlite:)')
      .option(...DATA)
      .option(
        '--tenant <name>',
        'tenant of the keys (REFLEXARC_TENANT, default "default"; for list without --url: all)',
      )
  const run = (action: KeysAction, flags: KeysFlags) =>
    start((terminal) => runKeys(action, flags, process.env, terminal, Date.now))
  define('list', 'list keys, without secrets').action((flags: KeysFlags) => run({ do: 'list' }, flags))
  define('add', 'create a key and its secret, and print both')
    .option('--name <text>', 'purpose of the key, for readers')
    .option(
      '--scope <scope>',
      'scope of the key: device, read, operate, author, publish or admin (repeatable; default admin)',
      gather,
      [],
    )
    .option('--resource <id>', 'a resource of a device key (repeatable)', gather, [])
    .option('--prefix <text>', 'prefix of the resource ids of a device key')
    .option('--resource-type <id>', 'type of the resources of a device key')
    .option(
      '--expires <duration>',
      'time for which the key is valid, such as 90d or PT12H; default: until it is removed',
    )
    .option('--provisioning', 'create a key with which devices request their own keys')
    .action((flags: KeysFlags) => run({ do: 'add' }, flags))
  define('rotate', 'replace the secret of a key, and print the new one')
    .option('--grace <duration>', 'time for which the previous secret stays valid, such as 10m; default: none')
    .argument('<key>', 'key as printed by keys list')
    .action((key: string, flags: KeysFlags) => run({ do: 'rotate', key }, flags))
  define('remove', 'remove a key, which becomes invalid')
    .argument('<key>', 'key as printed by keys list')
    .action((key: string, flags: KeysFlags) => run({ do: 'remove', key }, flags))
  keys.addHelpText(
    'after',
    '\nExamples:\n  reflexarc keys add --tenant north --data ./data\n' +
      '  reflexarc keys add --scope device --prefix boiler- --data ./data --url http://127.0.0.1:8080',
  )
}

export interface KeysFlags extends ConnectFlags {
  store?: string
  data?: string
  tenant?: string
  name?: string
  scope?: readonly string[]
  resource?: readonly string[]
  prefix?: string
  resourceType?: string
  expires?: string
  provisioning?: boolean
  grace?: string
}

export type KeysAction = { readonly do: 'list' | 'add' } | { readonly do: 'rotate' | 'remove'; readonly key: string }

/** Keys of a host, or of a store without one. */
interface KeysPlace {
  list(): Promise<readonly ShownKey[]>
  add(body: object): Promise<KeyPair>
  /** `undefined`: unknown key */
  rotate(key: string, graceMs: number): Promise<KeyPair | undefined>
  remove(key: string): Promise<boolean>
}

/** Throws `USAGE` with all problems, `NOT_FOUND` for an unknown key, `STORE` for an unusable folder. */
export async function runKeys(
  action: KeysAction,
  flags: KeysFlags,
  env: Environment,
  terminal: Pick<Terminal, 'out'>,
  now: () => number,
): Promise<0> {
  const tell = (value: unknown, text: string): void => {
    terminal.out(flags.json === true ? `${JSON.stringify(value)}\n` : `${text}\n`)
  }
  const unknown = (key: string): AppError =>
    new AppError('NOT_FOUND', `unknown key ${JSON.stringify(key.slice(0, 200))}; "reflexarc keys list" prints all keys`)
  const tellPair = (pair: KeyPair): void => {
    const { key, secret, tenant } = pair
    tell(
      { key, secret, tenant },
      `tenant  ${tenant}\nkey     ${key}\nsecret  ${secret}\nThe secret is not shown again.`,
    )
  }
  await withPlace(action, flags, env, now, async (place) => {
    switch (action.do) {
      case 'list': {
        const entries = await place.list()
        return tell(entries, listed(entries, flags.tenant))
      }
      case 'add':
        return tellPair(await place.add(newKeyBody(flags, now())))
      case 'rotate': {
        const pair = await place.rotate(action.key, flags.grace === undefined ? 0 : durationMs(flags.grace))
        if (pair === undefined) throw unknown(action.key)
        return tellPair(pair)
      }
      case 'remove':
        if (!(await place.remove(action.key))) throw unknown(action.key)
        return tell({ key: action.key, removed: true }, `${action.key} was removed`)
    }
  })
  return 0
}

function newKeyBody(flags: KeysFlags, now: number): object {
  const { name, scope = [], resource = [], prefix, resourceType, expires, provisioning = false } = flags
  const resources = {
    ...(resource.length > 0 && { ids: resource }),
    ...(prefix !== undefined && { prefix }),
    ...(resourceType !== undefined && { resourceTypeId: resourceType }),
  }
  return {
    ...(name !== undefined && { name }),
    ...(provisioning ? { provisioning } : { scopes: scope.length > 0 ? scope : ['admin'] }),
    ...(Object.keys(resources).length > 0 && { resources }),
    ...(expires !== undefined && { expires: now + durationMs(expires) }),
  }
}

async function withPlace(
  action: KeysAction,
  flags: KeysFlags,
  env: Environment,
  now: () => number,
  work: (place: KeysPlace) => Promise<void>,
): Promise<void> {
  if (flags.url !== undefined) return work(await placeOfHost(flags, env, now))
  const named = flags.tenant ?? (action.do === 'add' ? env[OPTIONS.tenant.env] || OPTIONS.tenant.default : undefined)
  const store = storeOf(flags.store ?? (env[OPTIONS.store.env] || OPTIONS.store.default))
  const location = store?.medium === 'postgres' ? { url: store.url } : { folder: dataFolder(flags, env) }
  refuseWrong(store, location, named)
  const storage = await ('url' in location ? openShared(location.url) : openStore(location.folder))
  try {
    const keys = new ApiKeys(storage.tenant(HOST_TENANT).collection(KEY_RECORDS), now)
    const announced = async <T>(change: Promise<T>): Promise<T> => {
      const result = await change
      await tellKeyChange(storage)
      return result
    }
    await work({
      list: async () => (await keys.list(named)).map(shownKey),
      add: (body) => announced(keys.make(newKeyOf(body, named ?? '', now()))),
      rotate: (key, graceMs) => announced(keys.rotate(key, graceMs)),
      remove: (key) => announced(keys.remove(key)),
    })
  } finally {
    await storage.close()
  }
}

async function placeOfHost(flags: KeysFlags, env: Environment, now: () => number): Promise<KeysPlace> {
  const http = await connectOperator(flags, env, now)
  const found = async <T>(answer: Promise<T>): Promise<T | undefined> => {
    try {
      return await answer
    } catch (error) {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return undefined
      throw error
    }
  }
  return {
    list: async () => (await typed<{ readonly keys: readonly ShownKey[] }>(http.json('GET', '/auth/v1/keys'))).keys,
    add: (body) => typed(http.json('POST', '/auth/v1/keys', { body })),
    rotate: (key, graceMs) => {
      const body = { graceSeconds: Math.ceil(graceMs / 1_000) }
      return found(typed<KeyPair>(http.json('POST', pathOf`/auth/v1/keys/${key}/rotate`, { body })))
    },
    remove: async (key) => (await found(http.open('DELETE', pathOf`/auth/v1/keys/${key}`))) !== undefined,
  }
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
      `--data: ${location.folder} does not contain data of a host; use the data folder of a host that has started`,
    )
  }
  if (tenant !== undefined) problems.push(...tenantProblems(tenant))
  if (problems.length > 0) throw new AppError('USAGE', problems.join('\nerror: '))
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
      `a host uses the data folder ${folder}; set its address, such as --url http://127.0.0.1:8080, or stop it first`,
    )
  }
}

function listed(entries: readonly ShownKey[], tenant: string | undefined): string {
  if (entries.length === 0) return tenant === undefined ? 'no keys' : `no keys of the tenant ${tenant}`
  const rows = entries.map(({ key, tenant: owner, createTime, scopes, resources, expires = '', name = '' }) => {
    const limit = resources === undefined ? '' : ` ${JSON.stringify(resources)}`
    return [key, owner, createTime, `${scopes.join(' ')}${limit}`, expires, name]
  })
  return tableLines([['key', 'tenant', 'made', 'scopes', 'expires', 'name'], ...rows]).join('\n')
}
