/** Documents in the shared store through which hosts of a cluster communicate. */
import type { CollectionSpec } from '#storage'

/** Heartbeat of a host, by its id. */
export interface HostRecord {
  /** address for other hosts */
  readonly url: string
  /** its MQTT port on the same machine; absent: none */
  readonly mqtt?: number
  /** storage of object contents: `files`, or the address of a bucket; absent: unknown */
  readonly contents?: string
  readonly version: string
  readonly replay: number
  /** epoch ms by the clock of the store: last heartbeat */
  readonly seen: number
  readonly joined: number
  /** draining: releases its slots and takes none */
  readonly isDraining: boolean
}

export const HOST_RECORDS: CollectionSpec<HostRecord> = { name: 'cluster_hosts', version: 1, fields: {} }

/** Slot assignment: one document with optimistic locking. */
export interface SlotTable {
  /** ids of hosts by slot; empty: unowned */
  readonly owners: readonly string[]
  /** number of owners so far by slot, for the fences of its tenants */
  readonly terms: readonly number[]
  /** `REPLAY_NUMBER` of the current or last owners; absent: never owned */
  readonly replay?: number
}

export const SLOT_TABLES: CollectionSpec<SlotTable> = { name: 'cluster_slots', version: 1, fields: {} }

export const SLOT_TABLE = 'slots'
