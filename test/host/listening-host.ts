/** Starts a host in memory that listens, with its client and uploaded webscripts. */
import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { createClient, type Client } from '../../src/client.ts'
import { readConfig, type Given } from '../../src/host/config.ts'
import { startHost } from '../../src/host/running-host.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import type { HostOverrides } from '../../src/host/compose.ts'

export interface ListeningHost {
  readonly url: string
  /** Address for MQTT clients, if the host was given a port for MQTT */
  readonly mqtt: string
  readonly credentials: { readonly key: string; readonly secret: string }
  readonly client: Client
  stop(): Promise<void>
}

/** `more`: options in addition to the key pair, or instead of a store in memory. */
export async function listeningHost(more: Given = {}, making: HostOverrides = {}): Promise<ListeningHost> {
  const credentials = { key: 'k', secret: 'a-secret' }
  const given = { store: 'memory:', port: 0, ...credentials, empty: true, logLevel: 'silent', ...more }
  const config = readConfig(given, {}, [...SERVICES.keys()])
  const host = await startHost(config, { write: () => undefined }, { hashCost: 2, ...making })
  const client = createClient({ url: host.url, credentials })
  return { url: host.url, mqtt: host.also[0] ?? '', credentials, client, stop: () => host.stop() }
}

/** Uploads a webscript and waits until it runs; returns its address by id, and its secret. */
export async function deployedWebscript(
  { url, client }: ListeningHost,
  files: Readonly<Record<string, string>>,
  draft = false,
): Promise<{ readonly url: string; readonly secret: string }> {
  const { name, version } = JSON.parse(files['webscript.json'] ?? '{}') as { name: string; version: string }
  const assets = new Map(Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)]))
  const { webscripts } = client.functions
  const { job } = await webscripts.create(assets, { draft })
  await webscripts.jobs.finished(job?.id ?? '')
  const { status, record } = await webscripts.get(name, version)
  expect([status, record['failureReason']]).toEqual(['running', undefined])
  const id = createHash('sha256')
    .update(JSON.stringify(['default', name]))
    .digest('hex')
    .slice(0, 32)
  return { url: `${url}/api/v1/${id}`, secret: String(record['secret']) }
}
