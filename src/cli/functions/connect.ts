/** Connects a command to its host with credentials. */
import { type Client, type ClientCredentials, createClient } from '#client'
import { AppError, messageOf } from '#kernel'
import { type Environment, OPTIONS } from '#host/spi'

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
    `--key and --secret: the host wants both; give them, or ${OPTIONS.key.env} and ${OPTIONS.secret.env} in the environment`,
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
      `--url: no host answers at ${url} (${why}); start one with "reflexarc serve", or name another`,
      { cause: error },
    )
  }
}
