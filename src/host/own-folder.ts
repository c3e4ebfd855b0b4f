/** The folder that a service has for itself beside what is stored: what it needs on this host alone. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from './config.ts'

export interface OwnFolder {
  /** absolute path; made when it is needed */
  readonly folder: string
  /** Stops the service, and removes a folder that does not last, whatever comes of the stop. */
  readonly stopWith: (stop: () => Promise<void>) => Promise<void>
}

/** In the data folder; a store that does not last has one that does not either. */
export function ownFolder({ store, data }: Pick<Config, 'store' | 'data'>, service: string): OwnFolder {
  if (store.medium !== 'memory') return { folder: join(data, service), stopWith: (stop) => stop() }
  const folder = join(tmpdir(), `reflexarc-${service}-${randomUUID()}`)
  return { folder, stopWith: (stop) => stop().finally(() => rmSync(folder, { recursive: true, force: true })) }
}
