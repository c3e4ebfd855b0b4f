/**
 * The port of connectors: one implementation per kind of broker, verified by test/services/connectors/port-suite.ts.
 *
 * PORT-1 a source returns every record of its broker from its position on at least once, in the order of each partition
 * PORT-2 a source reads ahead of the pulls of its reader by a bounded amount
 * PORT-3 a source acknowledges records at its broker only after `acknowledge`
 * PORT-4 `send` resolves once the broker has acknowledged all records, which it keeps in order of each key
 * PORT-5 a broken connection is an error of the pending call, and closing releases everything
 *
 * Errors are plain: their message becomes the last error of the status, and the host retries with backoff.
 */
import type { AppError, Json, JsonObject } from '#kernel'
import type { ConnectorType, SinkDocument, SourceDocument, StoredConnection, Tested } from './connector-schema.ts'

/** A connection whose secrets are values. */
export interface Connection extends Omit<StoredConnection, 'tls' | 'login'> {
  readonly tls?: boolean | Tls
  readonly login?: Login
}

export interface Tls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly serverName?: string
}

export interface Login {
  readonly mechanism?: 'plain' | 'scram-sha-256' | 'scram-sha-512' | 'oauthbearer'
  readonly user?: string
  readonly password?: string
  readonly token?: string
}

/** One place per partition, as only the implementation reads it; absent: the partition was never read. */
export type Position = Readonly<Record<string, Json>>

export interface SourceRecord {
  /** place at the broker, such as `topic/partition/offset`; for the list of rejected records */
  readonly id: string
  readonly topic: string
  readonly key?: string | undefined
  readonly payload: Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  /** epoch ms, as the broker states it; absent: that of the arrival */
  readonly time?: number | undefined
  /** the position after this record; absent: the broker itself keeps what was not acknowledged */
  readonly place?: { readonly partition: string; readonly next: Json }
  /** the record as the implementation decoded it; absent: the host decodes the payload */
  readonly decoded?: DecodedRecord
  /** why the implementation could not decode the record, which is then rejected */
  readonly failure?: AppError
}

/** `messages` and `attributes` name their `resource`; a message may have a `timestamp` in epoch ms. */
export interface DecodedRecord {
  readonly messages: readonly ResourceObject[]
  readonly attributes?: readonly ResourceObject[]
}

export type ResourceObject = JsonObject & { readonly resource: string }

export interface SourceConnection {
  /**
   * Resolves with the next records, at most 1,000, once there are some; with undefined when the signal aborts. Rejects
   * when the connection fails.
   */
  next(): Promise<readonly SourceRecord[] | undefined>
  /** Acknowledges records in the order in which they were returned; they are durable here. */
  acknowledge(records: readonly SourceRecord[]): Promise<void>
  /** Returns how many records wait at the broker; undefined: unknown. */
  lag(): Promise<number | undefined>
  close(): Promise<void>
}

export interface SinkRecord {
  /** the same for each repetition of the record; a header where the broker has headers */
  readonly id: string
  readonly topic: string
  readonly resource: string
  /** epoch ms */
  readonly time: number
  readonly value: JsonObject
}

export interface SinkConnection {
  send(records: readonly SinkRecord[]): Promise<void>
  close(): Promise<void>
}

export interface Opening<Document> {
  readonly document: Document
  readonly connection: Connection
  /** unique in the deployment: of letters, digits, `-`, `_` and `.` */
  readonly clientId: string
  /** aborts when the connector pauses, changes or ends */
  readonly signal: AbortSignal
  /** Rejects for a `host:port`, as named by a broker, that the host may not connect to. */
  readonly checkAddress?: (address: string) => Promise<void>
  /** Logs what a user should know though nothing failed. */
  readonly report: (what: string) => void
}

export interface SourceOpening extends Opening<SourceDocument> {
  readonly position: Position
}

export interface Connector {
  /** Connects, logs in and subscribes. */
  openSource(opening: SourceOpening): Promise<SourceConnection>
  openSink(opening: Opening<SinkDocument>): Promise<SinkConnection>
  /** Connects, logs in and looks up the topics. A broker that refuses is an outcome, not an error. */
  test(opening: Opening<SourceDocument | SinkDocument>): Promise<Tested>
}

/** Loads an implementation, and the package it needs, when the first document of the type is used. */
export type Connectors = Readonly<Record<ConnectorType, () => Promise<Connector>>>
