/** Writes messages: first into blocks in order of arrival, later into rows with an index by stream and time. */
import { hash } from 'node:crypto'
import { sumOf } from './checksum.ts'
import type { Database } from './database.ts'
import { InsertRows, MAX_ROWS } from './insert-rows.ts'
import {
  blockHeads,
  bodyAt,
  deleteBlock,
  isSmallBlock,
  MessagesBuilder,
  storedMessages,
  storeMessages,
  streamKey,
  type BlockHead,
  type MessageColumns,
} from './message-block.ts'
import type { ExpireJob, RemoveJob } from './series-jobs.ts'
import { WaitingMessages } from './waiting-messages.ts'

/** approximate most characters of messages in blocks */
const MAX_CHARACTERS = 16 * 1024 * 1024
/** approximate number of messages that become rows at once, while a batch may be waiting */
const SLICE = 4_096
/** maximum number of blocks that are rewritten one by one after a removal; more blocks are sorted in the process */
const FEW_BLOCKS = 4

export class MessageWriter {
  readonly #db: Database
  readonly #most: number
  readonly #rows: InsertRows
  readonly #digests = Array.from({ length: MAX_ROWS }, () => Buffer.alloc(DIGEST_BYTES))
  /** metadata of the blocks; undefined when not read yet */
  #known: { heads: BlockHead[]; next: number } | undefined
  /** messages of all blocks, loaded by the first removal in a transaction */
  #waiting: WaitingMessages | undefined

  /** `most`: number of messages kept in blocks */
  constructor(db: Database, most: number) {
    this.#db = db
    this.#most = most
    this.#rows = new InsertRows(db, INSERT, COLUMNS)
  }

  append(columns: MessageColumns): void {
    const count = columns.times.length
    if (count === 0) return
    this.#removeFromBlocks()
    const known = this.#blocks()
    const last = known.heads.at(-1)
    if (last !== undefined && isSmallBlock(last) && isSmallBlock({ count, size: columns.bodies.length })) {
      const both = new MessagesBuilder()
      for (const before of storedMessages(this.#db, last.key)) both.takeAll(before)
      both.takeAll(columns)
      known.heads.splice(-1, 1, storeMessages(this.#db, last.key, both.columns()))
    } else known.heads.push(storeMessages(this.#db, known.next, columns))
    known.next += count
  }

  remove({ tenant, resource, from, until, stream, keep }: RemoveJob): void {
    if (stream !== undefined) {
      const key = streamKey(this.#db, tenant, resource, stream)
      if (key !== undefined) this.#prune(key, from, until, keep)
      return
    }
    const waiting = this.#allWaiting()
    for (const [key] of this.#db.rows<[number]>(STREAMS, tenant, resource)) {
      waiting.remove(waiting.of(key).filter((index) => isWithin(waiting.timeOf(index), from, until)))
    }
    this.#db.run(REMOVE, tenant, resource, from, until)
  }

  expire({ tenant, now, limit }: ExpireJob): number {
    const { heads } = this.#blocks()
    if (heads.length > 0) {
      const isDue = heads.some(({ expires }) => expires <= now) || this.#db.row(DUE, now, tenant, 1) !== undefined
      // the message hides an equal row, which must be deleted too
      if (isDue) this.#makeAllRows()
    }
    return this.#db.run(EXPIRE, now, tenant, limit)
  }

  /** Applies removals to the blocks; call at the end of each transaction. */
  settle(): void {
    this.#removeFromBlocks()
    const known = this.#blocks()
    while (total(known.heads, 'count') > this.#most || total(known.heads, 'size') > MAX_CHARACTERS) {
      let blocks = 0
      for (let count = 0; count < SLICE && blocks < known.heads.length; blocks += 1) {
        count += known.heads[blocks]?.count ?? 0
      }
      const oldest = known.heads.splice(0, blocks)
      this.#writeRows(new WaitingMessages(storedMessages(this.#db, 0, oldest.at(-1)?.key)))
      this.#delete(oldest)
    }
  }

  /** Drops caches; call after a failed transaction. */
  forget(): void {
    this.#known = undefined
    this.#waiting = undefined
  }

  #prune(stream: number, from: number, until: number, keep: number): void {
    const waiting = this.#allWaiting()
    const indexes = waiting.of(stream)
    const distinct = waiting.distinct(indexes)
    const [first] = distinct
    if (first !== undefined) {
      // otherwise an equal row would become visible again
      if (this.#db.row(ROW_FROM, stream, waiting.timeOf(first)) !== undefined) {
        this.#makeAllRows()
        return this.#prune(stream, from, until, keep)
      }
      if (distinct.length < indexes.length) {
        const counted = new Set(distinct)
        waiting.remove(indexes.filter((index) => !counted.has(index)))
      }
      const older = distinct.slice(0, Math.max(0, distinct.length - keep))
      waiting.remove(older.filter((index) => isWithin(waiting.timeOf(index), from, until)))
    }
    // looks up the newest message to remove, since a list of all kept messages would be rebuilt for each message
    const [time, key] = this.#db.row<[number, number]>(NEWEST_BUT, stream, Math.max(0, keep - distinct.length)) ?? []
    if (time === undefined || key === undefined) return
    this.#db.run(REMOVE_BEFORE, stream, from, Math.min(until, time), time, key)
  }

  #allWaiting(): WaitingMessages {
    this.#waiting ??= new WaitingMessages(storedMessages(this.#db))
    return this.#waiting
  }

  #removeFromBlocks(): void {
    const waiting = this.#waiting
    if (waiting === undefined) return
    this.#waiting = undefined
    const changed = waiting.changed()
    const known = this.#blocks()
    if (changed.length > FEW_BLOCKS) {
      known.heads = this.#replace(known.heads, waiting, waiting.staying())
    } else {
      known.heads = known.heads.flatMap((head, block) => {
        return changed.includes(block) ? this.#replace([head], waiting, waiting.stayingOf(block)) : head
      })
    }
  }

  /** The order within each stream stays the same. */
  #replace(heads: readonly BlockHead[], waiting: WaitingMessages, indexes: Iterable<number>): BlockHead[] {
    const blocks: MessageColumns[] = []
    const builder = new MessagesBuilder()
    for (const index of indexes) {
      const { columns, at } = waiting.at(index)
      builder.take(columns, at)
      if (builder.isFull) blocks.push(builder.columns())
    }
    if (builder.count > 0) blocks.push(builder.columns())
    this.#delete(heads)
    let next = heads[0]?.key ?? 0
    return blocks.map((columns) => {
      const head = storeMessages(this.#db, next, columns)
      next += head.count
      return head
    })
  }

  #makeAllRows(): void {
    const known = this.#blocks()
    this.#writeRows(this.#allWaiting())
    this.#waiting = undefined
    this.#delete(known.heads)
    known.heads = []
  }

  #delete(blocks: readonly BlockHead[]): void {
    for (const { key } of blocks) deleteBlock(this.#db, key)
  }

  #writeRows(waiting: WaitingMessages): void {
    const indexes = waiting.staying()
    this.#rows.run(indexes.length, (row, values, from) => {
      const { columns, at } = waiting.at(indexes[row] ?? 0)
      const body = bodyAt(columns, at)
      const expires = columns.expires?.[at] ?? Number.NaN
      const [stream, time] = [columns.streams[at] ?? 0, columns.times[at] ?? 0]
      values[from] = stream
      values[from + 1] = time
      values[from + 2] = this.#digest(body, from / COLUMNS)
      values[from + 3] = body
      values[from + 4] = Number.isNaN(expires) ? null : expires
      values[from + 5] = sumOf([stream, time, expires], body)
    })
  }

  /** Valid until the same parameter is filled again; a buffer per row would cost more than its digest. */
  #digest(text: string, index: number): Uint8Array {
    const digest = this.#digests[index] ?? Buffer.alloc(DIGEST_BYTES)
    digest.write(hash('sha256', text, 'binary'), 0, DIGEST_BYTES, 'binary')
    return digest
  }

  #blocks(): { heads: BlockHead[]; next: number } {
    if (this.#known === undefined) {
      const heads = blockHeads(this.#db)
      const last = heads.at(-1)
      const [rows = 0] = this.#db.row<[number | null]>('SELECT max(key) FROM messages') ?? []
      this.#known = { heads, next: Math.max(rows ?? 0, last === undefined ? 0 : last.key + last.count - 1) + 1 }
    }
    return this.#known
  }
}

function isWithin(time: number, from: number, until: number): boolean {
  return time >= from && time <= until
}

function total(heads: readonly BlockHead[], what: 'count' | 'size'): number {
  return heads.reduce((sum, head) => sum + head[what], 0)
}

const COLUMNS = 6
const DIGEST_BYTES = 16
const INSERT = 'INSERT OR IGNORE INTO messages (stream, time, digest, body, expires, sum) VALUES'
const STREAMS = 'SELECT key FROM streams WHERE tenant = ? AND resource = ?'
const ROW_FROM = 'SELECT 1 FROM messages WHERE stream = ? AND time >= ? LIMIT 1'
const NEWEST_BUT = 'SELECT time, key FROM messages WHERE stream = ? ORDER BY time DESC, key DESC LIMIT 1 OFFSET ?'
const REMOVE_BEFORE = `
  DELETE FROM messages WHERE stream = ?1 AND time BETWEEN ?2 AND ?3 AND (time < ?4 OR key <= ?5)`
const REMOVE = `
  DELETE FROM messages WHERE time BETWEEN ?3 AND ?4
  AND stream IN (SELECT key FROM streams WHERE tenant = ?1 AND resource = ?2)`
const DUE = `
  SELECT e.key FROM messages AS e CROSS JOIN streams AS s ON s.key = e.stream
  WHERE e.expires <= ? AND s.tenant = ? LIMIT 0 + ?`
const EXPIRE = `DELETE FROM messages WHERE key IN (${DUE})`
