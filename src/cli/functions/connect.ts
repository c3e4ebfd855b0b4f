/** Connects a command to its host with credentials. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, type ClientCredentials, createClient } from '#client'
import { AppError, messageOf } from '#kernel'
import { type Environment, OPTIONS, tokenKey } from '#host/spi'
import { Http } from '#services/shared/client'
import { dataFolder } from '../command.ts'

export interface ConnectFlags {
  url?: string
  key?: string
  secret?: string
  token?: string
  json?: boolean
}

const DEFAULT_URL = 'http://127.0.0.1:8080'

/** Creates a client. Options override environment variables. Throws `USAGE` for missing or incomplete credentials. */
export function connect(flags: ConnectFlags, env: Environment): Client {
  const url = urlOf(flags, env)
  return createClient({ url, credentials: credentialsOf(flags, env), fetch: (input, init) => reach(url, input, init) })
}

/**
 * Returns the HTTP of a host for commands of its operator. Without credentials, and with the data folder of the host on
 * this machine, a token of the tenant is signed by the folder's key, for `lifetime` seconds. Throws `USAGE`.
 */
export async function connectOperator(
  flags: ConnectFlags & { data?: string; tenant?: string },
  env: Environment,
  now: () => number,
  lifetime = 60,
): Promise<Http> {
  const url = urlOf(flags, env)
  const folder = dataFolder(flags, env)
  const isGiven = [flags.token, flags.key, env['REFLEXARC_TOKEN'], env[OPTIONS.key.env]].some((one) => one)
  const credentials =
    isGiven || !existsSync(join(folder, 'token.key'))
      ? credentialsOf(flags, env)
      : { token: await operatorToken(folder, tenantOf(flags, env), lifetime, now) }
  const authorization =
    'token' in credentials
      ? `Bearer ${credentials.token}`
      : `Basic ${Buffer.from(`${credentials.key}:${credentials.secret}`).toString('base64')}`
  return new Http({ url, headers: { authorization }, fetch: (input, init) => reach(url, input, init) })
}

function tenantOf({ tenant }: { tenant?: string }, env: Environment): string {
  return tenant ?? (env[OPTIONS.tenant.env] || OPTIONS.tenant.default)
}

async function operatorToken(folder: string, tenant: string, lifetime: number, now: () => number): Promise<string> {
  const { Tokens } = await import('#host/running')
  return new Tokens(tokenKey(folder), now).issue({ tenant, subject: 'reflexarc', lifetime })
}

export function urlOf({ url }: ConnectFlags, env: Environment): string {
  return (url ?? (env['REFLEXARC_URL'] || DEFAULT_URL)).replace(/\/{1,9}$/, '')
}

function credentialsOf(flags: ConnectFlags, env: Environment): ClientCredentials {
  const token = flags.token ?? env['REFLEXARC_TOKEN'] ?? ''
  if (token !== '') return { token }
  const key = flags.key ?? env[OPTIONS.key.env] ?? ''
  const secret = flags.secret ?? env[OPTIONS.secret.env] ?? ''
  if (key !== '' && secret !== '') return { key, secret }
  throw new AppError(
    'USAGE',
    `--key and --secret: missing; set both, or ${OPTIONS.key.env} and ${OPTIONS.secret.env} in the environment`,
  )
}

async function reach(url: string, input: string | URL | Request, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(input, init)
  } catch (error) {
    const { cause } = error as { readonly cause?: unknown }
    const why = messageOf(cause ?? error)
    throw new AppError(
      'USAGE',
      `--url: no host responds at ${url} (${why}); start one with "reflexarc serve", or set another address`,
      { cause: error },
    )
  }
}
