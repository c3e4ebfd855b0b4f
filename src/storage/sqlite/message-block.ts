/**
 * Stores messages as columns, in order of arrival, until they are sorted into rows.
 *
 * MESSAGE-1 keys of blocks and rows count arrivals: a message in a block is newer than all rows
 * MESSAGE-2 of equal messages of one stream and time the first wins, wherever they are stored
 */
import type { AppError } from '#kernel'
import { damaged } from '../damage.ts'
import { sumOf } from './checksum.ts'
import type { Database } from './database.ts'
import { requireNamed } from './series-names.ts'

export interface MessageColumns {
  /** keys of streams; on the way to the writer, indexes of their names. In native byte order */
  readonly streams: Float64Array<ArrayBuffer>
  readonly times: Float64Array<ArrayBuffer>
  /** NaN for a message that does not expire; undefined when none expires */
  readonly expires: Float64Array<ArrayBuffer> | undefined
  /** end of each body in `bodies` */
  readonly ends: Uint32Array<ArrayBuffer>
  /** concatenated JSON bodies */
  readonly bodies: string
}

/** approximate most characters of bodies in a block; and the size below which a block is extended */
const MAX_CHARACTERS = 64 * 1024
const FEW_CHARACTERS = 16 * 1024
/** number of messages below which a block is extended */
const FEW = 64

export class MessagesBuilder {
  #streams: number[] = []
  #times: number[] = []
  #expires: number[] = []
  #ends: number[] = []
  #bodies: string[] = []
  #characters = 0
  #isMortal = false

  get count(): number {
    return this.#streams.length
  }

  get isFull(): boolean {
    return this.#characters >= MAX_CHARACTERS
  }

  add(stream: number, time: number, expires: number, body: string): void {
    this.#streams.push(stream)
    this.#times.push(time)
    this.#expires.push(expires)
    this.#isMortal ||= !Number.isNaN(expires)
    this.#bodies.push(body)
    this.#characters += body.length
    this.#ends.push(this.#characters)
  }

  take(from: MessageColumns, index: number): void {
    const { streams, times, expires } = from
    this.add(streams[index] ?? 0, times[index] ?? 0, expires?.[index] ?? Number.NaN, bodyAt(from, index))
  }

  takeAll(from: MessageColumns): void {
    for (let i = 0; i < from.times.length; i += 1) this.take(from, i)
  }

  /** Returns the block, and begins the next one. */
  columns(): MessageColumns {
    const columns = {
      streams: new Float64Array(this.#streams),
      times: new Float64Array(this.#times),
      expires: this.#isMortal ? new Float64Array(this.#expires) : undefined,
      ends: new Uint32Array(this.#ends),
      bodies: this.#bodies.join(''),
    }
    this.#streams = []
    this.#times = []
    this.#expires = []
    this.#ends = []
    this.#bodies = []
    this.#characters = 0
    this.#isMortal = false
    return columns
  }
}

export function bodyAt({ ends, bodies }: Pick<MessageColumns, 'ends' | 'bodies'>, index: number): string {
  return bodies.slice(index === 0 ? 0 : ends[index - 1], ends[index])
}

export interface BlockHead {
  /** ordinal number of the block's first message among all messages that arrived */
  readonly key: number
  readonly count: number
  readonly size: number
  /** earliest expiry of a message; infinite if none expires */
  readonly expires: number
}

export function blockHeads(db: Database): BlockHead[] {
  const rows = db.rows<[number, number, number, number | null]>(HEADS)
  return rows.map(([key, count, size, expires]) => ({ key, count, size, expires: expires ?? Infinity }))
}

/** True when a block should be rewritten together with the next messages, since many small blocks slow down reads. */
export function isSmallBlock({ count, size }: Pick<BlockHead, 'count' | 'size'>): boolean {
  return count < FEW && size < FEW_CHARACTERS
}

export function storeMessages(db: Database, key: number, columns: MessageColumns): BlockHead {
  const { streams, times, expires, ends, bodies } = columns
  const first = expires?.reduce((least, expiry) => (expiry < least ? expiry : least), Infinity) ?? Infinity
  const due = first === Infinity ? null : first
  const stamps = [bytesOf(streams), bytesOf(times), expires === undefined ? null : bytesOf(expires)] as const
  const offsets = bytesOf(ends)
  const sum = sumOf([key, times.length, due], ...stamps)
  db.run(STORE, key, times.length, due, ...stamps, sum, offsets, bodies, sumOf([key], offsets, bodies))
  return { key, count: times.length, size: bodies.length, expires: first }
}

export function deleteBlock(db: Database, key: number): void {
  db.run('DELETE FROM message_blocks WHERE key = ?', key)
}

/** A block of series.db. Bodies are read on demand, in the same transaction, because few of them are needed. */
class StoredMessages implements MessageColumns {
  readonly streams: Float64Array<ArrayBuffer>
  readonly times: Float64Array<ArrayBuffer>
  readonly expires: Float64Array<ArrayBuffer> | undefined
  readonly #db: Database
  readonly #key: number
  #texts: readonly [ends: Uint32Array<ArrayBuffer>, bodies: string] | undefined

  constructor(db: Database, [key, count, due, streams, times, expires, sum]: Stamps) {
    if (sumOf([key, count, due], streams, times, expires) !== sum) throw damagedBlock(key)
    this.#db = db
    this.#key = key
    this.streams = numbersOf(streams)
    this.times = numbersOf(times)
    this.expires = expires === null ? undefined : numbersOf(expires)
  }

  get ends(): Uint32Array<ArrayBuffer> {
    return this.#read()[0]
  }

  get bodies(): string {
    return this.#read()[1]
  }

  #read(): readonly [ends: Uint32Array<ArrayBuffer>, bodies: string] {
    if (this.#texts === undefined) {
      const [ends, bodies, sum] = this.#db.row<[Bytes, string, number]>(TEXTS, this.#key) ?? [new Uint8Array(), '', 0]
      if (sumOf([this.#key], ends, bodies) !== sum) throw damagedBlock(this.#key)
      this.#texts = [placesOf(ends), bodies]
    }
    return this.#texts
  }
}

/** Returns the blocks between two keys, both included, in order of arrival. */
export function storedMessages(db: Database, from = 0, upTo = Number.MAX_SAFE_INTEGER): readonly MessageColumns[] {
  return db.rows<Stamps>(STAMPS, from, upTo).map((row) => new StoredMessages(db, row))
}

/** Returns the key of a stream in blocks and rows; undefined before its first message. */
export function streamKey(db: Database, tenant: string, resource: string, stream: string): number | undefined {
  const [key] = db.row<[number]>(STREAM, tenant, resource, stream) ?? []
  if (key !== undefined) requireNamed(db, 'streams', key, [tenant, resource, stream])
  return key
}

export interface ArrivedMessage {
  readonly time: number
  /** epoch ms; NaN when the message does not expire */
  readonly expires: number
  body(): string
}

export function arrivedMessages(db: Database, stream: number): readonly ArrivedMessage[] {
  const found: ArrivedMessage[] = []
  for (const columns of storedMessages(db)) {
    const { streams, times, expires } = columns
    for (let at = streams.indexOf(stream); at >= 0; at = streams.indexOf(stream, at + 1)) {
      const index = at
      found.push({
        time: times[index] ?? 0,
        expires: expires?.[index] ?? Number.NaN,
        body: () => bodyAt(columns, index),
      })
    }
  }
  return found
}

/** Sorts messages by time, then by arrival, and drops repeated ones. */
export function distinctByTime<Message extends { readonly time: number; body(): string }>(
  messages: readonly Message[],
): readonly Message[] {
  const sorted = messages.toSorted((one, other) => one.time - other.time)
  let bodies = new Set<string>()
  return sorted.filter((one, i) => {
    const isAfter = sorted[i - 1]?.time === one.time
    // bodies are compared only for equal times, which are rare
    if (!isAfter && sorted[i + 1]?.time !== one.time) return true
    if (!isAfter) bodies = new Set()
    const { size } = bodies
    return bodies.add(one.body()).size > size
  })
}

type Bytes = Uint8Array<ArrayBuffer>
type Stamps = readonly [
  key: number,
  count: number,
  due: number | null,
  streams: Bytes,
  times: Bytes,
  expires: Bytes | null,
  sum: number,
]

function damagedBlock(key: number): AppError {
  return damaged(`The block ${key} of recent messages`)
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer>): Bytes {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function numbersOf(bytes: Bytes): Float64Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes)
  return new Float64Array(buffer, byteOffset, byteLength / 8)
}

function placesOf(bytes: Bytes): Uint32Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes)
  return new Uint32Array(buffer, byteOffset, byteLength / 4)
}

const STREAM = 'SELECT key FROM streams WHERE tenant = ? AND resource = ? AND stream = ?'
const HEADS = 'SELECT key, count, octet_length(bodies), expires FROM main.message_blocks ORDER BY key'
const STORE = 'INSERT OR REPLACE INTO main.message_blocks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'
const STAMPS = `
  SELECT key, count, expires, streams, times, expiries, sum FROM main.message_blocks WHERE key BETWEEN ? AND ? ORDER BY key`
const TEXTS = 'SELECT ends, bodies, bodies_sum FROM main.message_blocks WHERE key = ?'
