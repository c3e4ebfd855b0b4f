/** Typed client of retention over fetch, with the same contract. */
import { conditionOf, type Http, typed } from '#services/shared/client'
import type { RetentionApi, RetentionStatus, StoredRules } from './contract.ts'

export function retentionClient(http: Http): RetentionApi {
  return {
    rules: () => typed<StoredRules>(http.json('GET', '/retention/v1/rules')),
    setRules: (rules, { ifRevision } = {}) =>
      typed<StoredRules>(http.json('PUT', '/retention/v1/rules', { body: rules, ...conditionOf(ifRevision) })),
    status: () => typed<RetentionStatus>(http.json('GET', '/retention/v1/status')),
  }
}
