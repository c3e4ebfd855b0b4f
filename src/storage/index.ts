/** Exports the types of stores, and helpers that walk through pages; media have modules of their own. */
export { AUDIT_ENTRIES, type AuditedChange, auditedStorage, type AuditEntry, type Auditing } from './audited-store.ts'
export type { BlobMedium } from './blob-medium.ts'
export type {
  Blobs,
  Bucket,
  Collection,
  CollectionSpec,
  Committed,
  Condition,
  Document,
  Expectation,
  Log,
  LogBody,
  LogEntry,
  NewMessage,
  Presence,
  Query,
  RangeQuery,
  Sample,
  SampleColumns,
  SampleValue,
  Series,
  SeriesName,
  Storage,
  Store,
  Stored,
  StoredMessage,
  StoreTime,
  Write,
} from './contract.ts'
export { DamageWatch } from './damage.ts'
export { type FenceHolder, FENCES, fenceStore, takeFence } from './fence-store.ts'
export { examineObjects } from './files/examine-objects.ts'
export { openMemoryBlobs } from './memory/memory-objects.ts'
export { copyDatabases } from './sqlite/copy-databases.ts'
export { type Damage, documentsIn, examineFile, type FileName, formOfFile } from './sqlite/examine.ts'
export { rebuildFile } from './sqlite/rebuild.ts'
export { forgetOldest, portions, portionsOfIds, walk } from './walk.ts'
