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

interface StoredRejection extends Omit<RejectedRecord, 'id' | 'time'> {
  readonly connector: string
  /** epoch ms */
  readonly at: number
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
const PORTION = 500

export class RejectedRecords {
  readonly #records: Collection<StoredRejection>

  constructor(store: Store) {
    this.#records = store.collection(REJECTED)
  }

  /** `number`: how many of the connector were rejected before. */
  writes(connector: string, number: number, record: SourceRecord, error: unknown, now: number): readonly Write[] {
    const { id, topic, key } = record
    const bytes = Buffer.from(record.payload.subarray(0, MAX_PAYLOAD))
    const encoding = isUtf8(bytes) ? 'utf8' : 'base64'
    const stored: StoredRejection = {
      connector,
      at: now,
      record: id,
      topic,
      ...(key !== undefined && { key: key.slice(0, MAX_ERROR) }),
      error: messageOf(error).slice(0, MAX_ERROR),
      code: error instanceof AppError ? error.code : 'INTERNAL',
      payload: bytes.toString(encoding),
      encoding,
    }
    const writes = [this.#records.putting(idOf(connector, number), stored)]
    if (number >= MAX_REJECTED) writes.push(this.#records.deleting(idOf(connector, number - MAX_REJECTED)))
    return writes
  }

  async list(connector: string, { limit = 100, after }: RejectedQuery): Promise<RejectedList> {
    const where = ofConnector(connector)
    const afterId = after === undefined ? undefined : `${connector}/${after}`
    const found = await this.#records.find({ where, limit: limit + 1, ...(afterId !== undefined && { afterId }) })
    const values = found.slice(0, limit).map(({ id, value: { connector: _connector, at, ...rest } }) => {
      return { id: id.slice(connector.length + 1), time: new Date(at).toISOString(), ...rest }
    })
    const next = found.length > limit ? values.at(-1)?.id : undefined
    return { values, ...(next !== undefined && { next }), total: await this.#records.count(where) }
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
