/**
 * Contract of retention: how long a tenant keeps its data. Without a rule, samples and messages are kept forever, and
 * other data as long as the host is configured to keep it.
 *
 * RETENTION-1 data is deleted only if it is older than its rule, as of a time that never exceeds the host's clock and
 *   advances by at most a day in an hour, however often rules are set or the host starts
 * RETENTION-2 of several rules for the same data, the most specific one applies: type and metric, metric, type, neither
 * RETENTION-3 a round deletes at most a few thousand entries per write, and pauses in between; after a crash the next
 *   round continues
 *
 * Errors are AppErrors: `VALIDATION`, `PRECONDITION`.
 */
import type { Caller, RevisionOptions } from '#kernel'
import type { DataKind, RetentionRules, RetentionStatus, StoredRules } from './retention-schema.ts'

export type { DataKind, RetentionRule, RetentionRules, RetentionStatus, StoredRules } from './retention-schema.ts'

export interface RetentionService {
  as(caller: Caller): RetentionApi
}

export interface RetentionApi {
  rules(): Promise<StoredRules>
  /** Replaces all rules, and starts a round. */
  setRules(rules: RetentionRules, options?: RevisionOptions): Promise<StoredRules>
  status(): Promise<RetentionStatus>
}

export interface InternalRetention extends RetentionService {
  /** Returns the age in ms after which data of this kind is deleted; undefined without a rule for all resources. */
  ageOf(kind: DataKind): number | undefined
}
