/** Typed client of the audit over fetch, with the same contract. */
import { type Http, jsonLines, typed } from '#services/shared/client'
import type { AuditApi, AuditEntryInfo, AuditPage } from './contract.ts'

export function auditClient(http: Http): AuditApi {
  return {
    entries: (query = {}) => typed<AuditPage>(http.json('GET', '/audit/v1/entries', { query })),
    exported: async function* (query = {}) {
      const answer = await http.open('GET', '/audit/v1/export', { query })
      for await (const entry of jsonLines(answer)) yield entry as AuditEntryInfo
    },
  }
}
