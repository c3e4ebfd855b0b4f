/** Defines the documents in the shared store through which hosts of a cluster communicate. */
import type { CollectionSpec } from '#storage'

export interface HostRecord {
  readonly url: string
  /** MQTT port on the same machine; absent: no MQTT */
  readonly mqtt?: number
  /** Where object contents are stored: `files`, or the address of a bucket; absent: unknown */
  readonly contents?: string
  readonly version: string
  readonly replay: number
  /** Last heartbeat, epoch ms by the store's clock */
  readonly seen: number
  readonly joined: number
  /** Whether the host is draining: it releases its slots and takes none */
  readonly isDraining: boolean
}

export const HOST_RECORDS: CollectionSpec<HostRecord> = { name: 'cluster_hosts', version: 1, fields: {} }

export interface SlotTable {
  /** Ids of the owning hosts by slot; empty: unowned */
  readonly owners: readonly string[]
  /** Number of owners so far by slot, used in the fences of tenants */
  readonly terms: readonly number[]
  /** `REPLAY_NUMBER` of the current or last owners; absent: no slot was ever owned */
  readonly replay?: number
}

export const SLOT_TABLES: CollectionSpec<SlotTable> = { name: 'cluster_slots', version: 1, fields: {} }

export const SLOT_TABLE = 'slots'
