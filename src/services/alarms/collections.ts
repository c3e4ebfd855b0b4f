/** Opens the collections and the event log of alarms. */
import { EffectLedger } from '#services/shared'
import type { Collection, Log, Store, Write } from '#storage'
import {
  ALARMS,
  CAUSES,
  CHUNKS,
  CURSORS,
  EVENT_LOG,
  KEYS,
  TYPES,
  type AlarmRecord,
  type CauseRecord,
  type CursorRecord,
  type HistoryChunk,
  type KeyRecord,
  type TypeRecord,
} from './alarm-record.ts'

export interface AlarmCollections {
  readonly tenant: string
  readonly alarms: Collection<AlarmRecord>
  readonly keys: Collection<KeyRecord>
  readonly chunks: Collection<HistoryChunk>
  readonly causes: Collection<CauseRecord>
  readonly cursors: Collection<CursorRecord>
  readonly types: Collection<TypeRecord>
  readonly events: Log
  readonly effects: EffectLedger
  commit(writes: readonly Write[]): ReturnType<Store['commit']>
}

export function openCollections(tenant: string, store: Store): AlarmCollections {
  return {
    tenant,
    alarms: store.collection(ALARMS),
    keys: store.collection(KEYS),
    chunks: store.collection(CHUNKS),
    causes: store.collection(CAUSES),
    cursors: store.collection(CURSORS),
    types: store.collection(TYPES),
    events: store.log(EVENT_LOG),
    effects: new EffectLedger(store),
    commit: (writes) => store.commit(writes),
  }
}
