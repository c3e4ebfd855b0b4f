/**
 * Contract of the audit: who changed which documents of a tenant, from where, and how. Entries are written by the store
 * in the commit of the change (`auditedStorage`), and can only be read.
 *
 * Errors are AppErrors: `VALIDATION`.
 */
import type { Caller } from '#kernel'
import type { AuditEntryInfo, AuditQuery } from './entry-schema.ts'

export type { AuditEntryInfo, AuditQuery } from './entry-schema.ts'

export interface AuditService {
  as(caller: Caller): AuditApi
}

export interface AuditApi {
  /** Oldest first, in pages of `limit` (default 100, at most 1,000). `next`: the `after` of the next page */
  entries(query?: AuditQuery): Promise<AuditPage>
  /** All entries, oldest first */
  exported(query?: Omit<AuditQuery, 'after' | 'limit'>): AsyncIterable<AuditEntryInfo>
}

export interface AuditPage {
  readonly values: readonly AuditEntryInfo[]
  readonly next?: string
}
