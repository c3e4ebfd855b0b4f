/** What the hosts of a cluster tell each other, as documents of a store that all of them have. */
import type { CollectionSpec } from '#storage'

/** A host, by its id. It writes its own, again and again. */
export interface HostRecord {
  /** where the other hosts reach it */
  readonly url: string
  /** its port for MQTT, at the same machine; absent: it speaks none */
  readonly mqtt?: number
  /** where it keeps contents of objects: `files`, or the address of a bucket; absent: it did not say */
  readonly contents?: string
  /** of the program */
  readonly version: string
  /** its `REPLAY_NUMBER` */
  readonly replay: number
  /** epoch ms by the clock of the store: when it was there last */
  readonly seen: number
  /** epoch ms by the clock of the store */
  readonly joined: number
  /** it gives its slots away and takes none */
  readonly isDraining: boolean
}

export const HOST_RECORDS: CollectionSpec<HostRecord> = { name: 'cluster_hosts', version: 1, fields: {} }

/** Who has which slot: one document, changed by comparing its version. */
export interface SlotTable {
  /** ids of hosts by slot; empty: nobody's */
  readonly owners: readonly string[]
  /** by slot: counts those who had it. A fence of its tenants is taken for this term */
  readonly terms: readonly number[]
  /** `REPLAY_NUMBER` of those who have slots, or had them last; absent: nobody has had any */
  readonly replay?: number
}

export const SLOT_TABLES: CollectionSpec<SlotTable> = { name: 'cluster_slots', version: 1, fields: {} }

export const SLOT_TABLE = 'slots'
