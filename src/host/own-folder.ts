/** The folder of a service on this host, for files that are not part of the store. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from './config.ts'

export interface OwnFolder {
  /** absolute path; made when it is needed */
  readonly folder: string
  /** Stops the service, then removes a temporary folder, also after a failure. */
  readonly stopWith: (stop: () => Promise<void>) => Promise<void>
}

/** In the data folder; in memory mode a temporary one. */
export function ownFolder({ store, data }: Pick<Config, 'store' | 'data'>, service: string): OwnFolder {
  if (store.medium !== 'memory') return { folder: join(data, service), stopWith: (stop) => stop() }
  const folder = join(tmpdir(), `reflexarc-${service}-${randomUUID()}`)
  return { folder, stopWith: (stop) => stop().finally(() => rmSync(folder, { recursive: true, force: true })) }
}
