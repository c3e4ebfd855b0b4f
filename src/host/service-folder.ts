/** Provides a folder for a service's files outside the store. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from './config.ts'

export interface ServiceFolder {
  readonly folder: string
  /** Stops the service, then removes the folder if it is temporary, even after a failure. */
  readonly stopWith: (stop: () => Promise<void>) => Promise<void>
}

export function serviceFolder({ store, data }: Pick<Config, 'store' | 'data'>, service: string): ServiceFolder {
  if (store.medium !== 'memory') return { folder: join(data, service), stopWith: (stop) => stop() }
  const folder = join(tmpdir(), `reflexarc-${service}-${randomUUID()}`)
  return { folder, stopWith: (stop) => stop().finally(() => rmSync(folder, { recursive: true, force: true })) }
}
