/** What sources and sinks have in common while they run. */
import type { Caller, StartTimer } from '#kernel'
import type { Store } from '#storage'
import type { RejectedRecords } from './connector-records.ts'
import type { ConnectorStatus } from './connector-schema.ts'
import type { Connector, Opening } from './port.ts'

export interface Runner {
  readonly status: ConnectorStatus
  start(): void
  /** Resolves once nothing is in flight. */
  stop(): Promise<void>
}

export interface RunnerOptions<Document> {
  /** of the connector's records in the store */
  readonly id: string
  readonly document: Document
  readonly caller: Caller
  readonly store: Store
  readonly rejected: RejectedRecords
  /** epoch ms */
  readonly now: () => number
  readonly later: StartTimer
  readonly failed: (error: unknown) => void
  /** Counts for the metrics of this process. */
  readonly counted: (result: 'accepted' | 'rejected' | 'retried', count: number) => void
  /** Loads the implementation, reads secrets, and checks that the broker may be reached. */
  readonly opening: (signal: AbortSignal) => Promise<Opening<Document> & { readonly connector: Connector }>
}
