/** Deduplication of alarms: a raise repeats the open alarm of its key instead of opening another one. */
import { createHash } from 'node:crypto'
import type { AlarmRecord } from './alarm-record.ts'

export function keyOf(source: string, type: string, dedupKey: string | undefined): string {
  const parts = dedupKey === undefined ? [source, type] : [dedupKey]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

export function isRepeated(latest: AlarmRecord | undefined): latest is AlarmRecord {
  return latest !== undefined && latest.status !== 'CLEARED'
}
