import type { Storage } from '../storage/contract.ts'
import type { Config } from './config.ts'
import type { Gauges } from './gauges.ts'
import type { HostedService } from './service.ts'

/** What a service is made of. */
export interface Parts {
  readonly storage: Storage
  readonly gauges: Gauges
  readonly config: Config
  /** epoch ms */
  readonly now: () => number
  /** The service of that name, when it is served too: what the adapters between services stand on. */
  other(name: string): HostedService | undefined
}

/** Makes a service, over storage that is open. Nothing of it works before its `start`. */
export type MakeService = (parts: Parts) => HostedService | Promise<HostedService>

/** The table of services, in the order in which they start; they stop in the opposite one. */
export type ServiceTable = ReadonlyMap<string, MakeService>
