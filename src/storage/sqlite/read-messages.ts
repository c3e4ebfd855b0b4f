/** Reads messages and applied log positions on a reader's connection, inside the transaction of the caller. */
import type { CheckedMessages } from '../check-series.ts'
import { damaged } from '../damage.ts'
import { sumOf } from './checksum.ts'
import type { Database } from './database.ts'
import { timeText } from './series-names.ts'
import { arrivedMessages, distinctByTime, streamKey, type ArrivedMessage } from './message-block.ts'

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
  const key = streamKey(db, tenant, resource, stream)
  if (key === undefined) return []
  const direction = descending ? 'DESC' : 'ASC'
  // keys are in order of arrival
  const sql = `
    SELECT time, body, expires, sum FROM messages
    WHERE stream = ? AND time BETWEEN ? AND ? AND (expires IS NULL OR expires > ?)
    ORDER BY time ${direction}, key ${direction} LIMIT 0 + ?`
  const rows = db
    .rows<readonly [...MessageRow, sum: number]>(sql, key, from, until, now, limit)
    .map(([time, body, expires, sum]): MessageRow => {
      if (sumOf([key, time, expires], body) === sum) return [time, body, expires]
      throw damaged(`The message of ${resource}/${stream} (tenant ${tenant}) at ${timeText(time)}`)
    })
  const arrived = withoutRows(db, key, distinctByTime(arrivedMessages(db, key))).filter(
    ({ time, expires }) => time >= from && time <= until && !(expires <= now),
  )
  if (arrived.length === 0) return rows
  const found: MessageRow[] = []
  if (descending) arrived.reverse()
  let [row, block] = [0, 0]
  while (found.length < limit) {
    const [stored, waiting] = [rows[row], arrived[block]]
    if (stored === undefined && waiting === undefined) break
    if (waiting !== undefined && (stored === undefined || isFirst(waiting.time, stored[0], descending))) {
      found.push([waiting.time, waiting.body(), Number.isNaN(waiting.expires) ? null : waiting.expires])
      block += 1
    } else if (stored !== undefined) {
      found.push(stored)
      row += 1
    }
  }
  return found
}

/** True when the message from a block comes first. At equal times, messages in blocks are newer than rows. */
function isFirst(arrived: number, stored: number, descending: boolean): boolean {
  return descending ? arrived >= stored : arrived < stored
}

/** Drops messages that equal a stored row. `arrived` is ordered by time. */
function withoutRows(db: Database, stream: number, arrived: readonly ArrivedMessage[]): ArrivedMessage[] {
  const [first] = arrived
  const [last] = first === undefined ? [] : (db.row<[number | null]>(LAST, stream) ?? [])
  if (first === undefined || last === undefined || last === null) return [...arrived]
  return arrived.filter((one) => {
    if (one.time > last) return true
    return !db.rows<[string]>(BODIES, stream, one.time).some(([body]) => body === one.body())
  })
}

export function readApplied(db: Database, { tenant, log, partition }: AppliedRead): number {
  const sql = 'SELECT position FROM applied WHERE tenant = ? AND log = ? AND partition = ?'
  return db.row<[number]>(sql, tenant, log, partition)?.[0] ?? 0
}

const LAST = 'SELECT max(time) FROM messages WHERE stream = ?'
const BODIES = 'SELECT body FROM messages WHERE stream = ? AND time = ?'
