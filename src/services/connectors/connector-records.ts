/** Collections of connectors: documents, positions with their counters, and rejected records. */
import { isUtf8 } from 'node:buffer'
import { AppError, messageOf } from '#kernel'
import type { Collection, CollectionSpec, Condition, Store, Write } from '#storage'
import type { RejectedList, RejectedQuery, RejectedRecord, SinkDocument, SourceDocument } from './connector-schema.ts'
import type { Position, SourceRecord } from './port.ts'

export interface StoredConnector<Document> {
  readonly name: string
  readonly document: Document
}

export const SOURCES: CollectionSpec<StoredConnector<SourceDocument>> = {
  name: 'sources',
  version: 1,
  audited: true,
  fields: {},
}
export const SINKS: CollectionSpec<StoredConnector<SinkDocument>> = {
  name: 'sinks',
  version: 1,
  audited: true,
  fields: {},
}

/** Position of a connector, and what happened to the records up to it. */
export interface ProgressRecord {
  readonly position: Position
  readonly read: number
  readonly accepted: number
  readonly rejected: number
}

export const NO_PROGRESS: ProgressRecord = { position: {}, read: 0, accepted: 0, rejected: 0 }
export const PROGRESS: CollectionSpec<ProgressRecord> = { name: 'connector_progress', version: 1, fields: {} }

interface StoredRejection extends Omit<RejectedRecord, 'id' | 'time' | 'tries'> {
  readonly connector: string
  /** epoch ms */
  readonly at: number
  readonly headers?: Readonly<Record<string, string>>
  /** of the record, epoch ms */
  readonly recordTime?: number
  readonly tries?: number
}

const REJECTED: CollectionSpec<StoredRejection> = {
  name: 'connector_rejected',
  version: 1,
  fields: { connector: { type: 'text', of: ({ connector }) => connector } },
}

/** maximum number of rejected records per connector; the oldest are removed */
export const MAX_REJECTED = 1_000
const MAX_PAYLOAD = 65_536
const MAX_ERROR = 1_000
const MAX_HEADERS = 16_384
const PORTION = 500

export class RejectedRecords {
  readonly #records: Collection<StoredRejection>

  constructor(store: Store) {
    this.#records = store.collection(REJECTED)
  }

  /** `number`: how many of the connector were rejected before. */
  writes(connector: string, number: number, record: SourceRecord, error: unknown, now: number): readonly Write[] {
    const { id, topic, key, headers, time } = record
    const isCut = record.payload.length > MAX_PAYLOAD || JSON.stringify(headers ?? '').length > MAX_HEADERS
    const bytes = Buffer.from(record.payload.subarray(0, MAX_PAYLOAD))
    const encoding = isUtf8(bytes) ? 'utf8' : 'base64'
    const stored: StoredRejection = {
      connector,
      at: now,
      record: id,
      topic,
      ...(key !== undefined && { key: key.slice(0, MAX_ERROR) }),
      ...faultOf(error),
      payload: bytes.toString(encoding),
      encoding,
      ...(isCut ? { truncated: true } : headers && { headers }),
      ...(time !== undefined && { recordTime: time }),
    }
    const writes = [this.#records.putting(idOf(connector, number), stored)]
    if (number >= MAX_REJECTED) writes.push(this.#records.deleting(idOf(connector, number - MAX_REJECTED)))
    return writes
  }

  async list(connector: string, { limit = 100, after }: RejectedQuery): Promise<RejectedList> {
    const where = ofConnector(connector)
    const afterId = after === undefined ? undefined : `${connector}/${after}`
    const found = await this.#records.find({ where, limit: limit + 1, ...(afterId !== undefined && { afterId }) })
    const values = found.slice(0, limit).map(({ id, value }) => shown(id.slice(connector.length + 1), value))
    const next = found.length > limit ? values.at(-1)?.id : undefined
    return { values, ...(next !== undefined && { next }), total: await this.#records.count(where) }
  }

  /** Returns the records to retry, in the order of their rejection: those with the ids, or all. */
  async some(connector: string, ids?: readonly string[]): Promise<readonly KeptRecord[]> {
    const found =
      ids === undefined
        ? await this.#records.find({ where: ofConnector(connector), limit: MAX_REJECTED })
        : await this.#records.getMany(ids.slice(0, MAX_REJECTED).map((id) => `${connector}/${id}`))
    return found.map(({ id, value }) => ({
      id: id.slice(connector.length + 1),
      isWhole: value.truncated !== true,
      record: recordOf(value),
      done: this.#records.deleting(id),
      failedAgain: async (error) => {
        await this.#records.put(id, { ...value, ...faultOf(error), tries: (value.tries ?? 1) + 1 })
      },
    }))
  }

  /** Returns false for an unknown record. */
  remove(connector: string, id: string): Promise<boolean> {
    return this.#records.delete(`${connector}/${id}`)
  }

  async removeAll(connector: string): Promise<void> {
    for (;;) {
      const ids = await this.#records.ids({ where: ofConnector(connector), limit: PORTION })
      for (const id of ids) await this.#records.delete(id)
      if (ids.length < PORTION) return
    }
  }
}

function idOf(connector: string, number: number): string {
  return `${connector}/${String(number).padStart(12, '0')}`
}

function ofConnector(connector: string): readonly Condition[] {
  return [{ field: 'connector', op: 'eq', value: connector }]
}

/** A rejected record that may be tried again. */
export interface KeptRecord {
  readonly id: string
  /** false: only the beginning of the payload is kept */
  readonly isWhole: boolean
  readonly record: SourceRecord
  /** removes it, for the commit of its messages */
  readonly done: Write
  failedAgain(error: unknown): Promise<void>
}

function recordOf({ record, topic, key, payload, encoding, headers, recordTime }: StoredRejection): SourceRecord {
  return {
    id: record,
    topic,
    key,
    payload: Buffer.from(payload, encoding),
    ...(headers && { headers }),
    ...(recordTime !== undefined && { time: recordTime }),
  }
}

function faultOf(error: unknown): Pick<StoredRejection, 'error' | 'code'> {
  return {
    error: messageOf(error).slice(0, MAX_ERROR),
    code: error instanceof AppError ? error.code : 'INTERNAL',
  }
}

function shown(id: string, value: StoredRejection): RejectedRecord {
  const { connector: _connector, at, headers: _headers, recordTime: _time, tries = 1, ...rest } = value
  return { id, time: new Date(at).toISOString(), ...rest, tries }
}
