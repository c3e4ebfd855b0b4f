/** Reads of messages and of progress, on a reader's connection. Works inside the transaction of its caller. */
import type { CheckedMessages } from '../check-series.ts'
import type { Database } from './database.ts'

export interface MessagesRead extends CheckedMessages {
  readonly kind: 'messages'
  readonly tenant: string
  readonly now: number
}

export interface AppliedRead {
  readonly kind: 'applied'
  readonly tenant: string
  readonly log: string
  readonly partition: number
}

export type MessageRow = readonly [time: number, body: string, expires: number | null]

export function readMessages(db: Database, read: MessagesRead): readonly MessageRow[] {
  const { tenant, resource, stream, from, until, descending, limit, now } = read
  // Keys count up, so they are the order of arrival.
  const direction = descending ? 'DESC' : 'ASC'
  const sql = `
    SELECT m.time, m.body, m.expires FROM streams AS s CROSS JOIN messages AS m
    WHERE s.tenant = ? AND s.resource = ? AND s.stream = ? AND m.stream = s.key AND m.time BETWEEN ? AND ?
      AND (m.expires IS NULL OR m.expires > ?)
    ORDER BY m.time ${direction}, m.key ${direction} LIMIT ?`
  return db.rows<MessageRow>(sql, tenant, resource, stream, from, until, now, limit)
}

export function readApplied(db: Database, { tenant, log, partition }: AppliedRead): number {
  const sql = 'SELECT position FROM applied WHERE tenant = ? AND log = ? AND partition = ?'
  return db.row<[number]>(sql, tenant, log, partition)?.[0] ?? 0
}
