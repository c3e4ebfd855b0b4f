/** Runs a host in memory for one command, reachable only from this machine, and stops it with the command. */
import { randomUUID } from 'node:crypto'
import { type Client, createClient } from '#client'
import { type Environment, type Given, readConfig } from '#host/spi'
import type { Manifest } from '#services/functions'
import { type RunningHost, SERVICES, startHost } from '#host/running'
import type { Terminal } from '../terminal.ts'

export interface OwnHost {
  readonly host: RunningHost
  readonly client: Client
}

/** Calls `work` with a host. If it fails, reports which tools this machine lacks. */
export async function withOwnHost(
  options: Given,
  terminal: Terminal,
  work: (host: OwnHost) => Promise<0 | 1>,
): Promise<0 | 1> {
  const credentials = { key: 'own', secret: randomUUID() }
  const all: Given = {
    port: 0,
    host: '127.0.0.1',
    ...options,
    store: 'memory:',
    ...credentials,
    empty: true,
    logLevel: 'error',
  }
  const host = await startHost(readConfig(all, {}, [...SERVICES.keys()]), { write: (line) => terminal.err(line) })
  try {
    const code = await work({ host, client: createClient({ url: host.url, credentials }) })
    if (code !== 0) for (const lack of await lacksOf(host)) terminal.err(`${lack}\n`)
    return code
  } finally {
    await host.stop()
  }
}

async function lacksOf({ url }: RunningHost): Promise<readonly string[]> {
  const health = (await (await fetch(`${url}/health`)).json()) as { readonly warnings?: readonly string[] }
  return health.warnings ?? []
}

/** Copies a tested function's secrets from environment variables with the same names. */
export async function lendSecrets({ vault }: Client, { deploy }: Manifest, environment: Environment): Promise<void> {
  for (const name of deploy?.secrets ?? []) {
    const value = environment[name]
    if (value !== undefined && value !== '') await vault.put(name, value)
  }
}
