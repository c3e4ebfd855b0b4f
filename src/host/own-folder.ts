/** Folder of a service for files outside of the store. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from './config.ts'

export interface OwnFolder {
  readonly folder: string
  /** Stops the service, then removes a temporary folder, even after a failure. */
  readonly stopWith: (stop: () => Promise<void>) => Promise<void>
}

/** Inside the data folder; temporary in memory mode. */
export function ownFolder({ store, data }: Pick<Config, 'store' | 'data'>, service: string): OwnFolder {
  if (store.medium !== 'memory') return { folder: join(data, service), stopWith: (stop) => stop() }
  const folder = join(tmpdir(), `reflexarc-${service}-${randomUUID()}`)
  return { folder, stopWith: (stop) => stop().finally(() => rmSync(folder, { recursive: true, force: true })) }
}
