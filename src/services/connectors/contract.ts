/**
 * Contract of connectors: sources read records of Kafka and MQTT brokers into the log, and sinks write messages,
 * alarms, firings and commands to them; in process and over fetch (`client.ts`).
 *
 * CONNECTOR-1 the position of a source is committed together with the messages up to it: each record is posted once,
 *   even across a crash, if its broker can be read from a position
 * CONNECTOR-2 a record is acknowledged at its broker after its messages, or its rejection, are durable
 * CONNECTOR-3 a record that cannot be used is kept with the reason, and the source continues; the latest thousand are
 *   kept, and can be tried again: its removal and its messages are one commit
 * CONNECTOR-4 a source that is ahead of the host waits; it loses nothing, and its memory is bounded
 * CONNECTOR-5 a sink sends each item at least once, in order of its resource, under the same id
 * CONNECTOR-6 pause, resume and position survive a restart; in a cluster only the owner of the tenant runs connectors
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `TOO_LARGE`.
 */
import type { Caller } from '#kernel'
import type { RejectedList, RejectedQuery, Retried, Sink, Source, Tested } from './connector-schema.ts'

export type { RejectedList, RejectedQuery, Retried, Sink, Source, Tested } from './connector-schema.ts'
export type { Connectors } from './port.ts'

export interface ConnectorsService {
  as(caller: Caller): ConnectorsApi
}

export interface InternalConnectors extends ConnectorsService {
  /** Call before tasks resume: their replay may fire. */
  prepare(): Promise<void>
  /** Starts the stored connectors. */
  start(): Promise<void>
  stop(): Promise<void>
  gauges(): ConnectorGauges
  /** Returns connectors that fail, one sentence each. */
  warnings(): readonly string[]
}

export interface ConnectorGauges {
  /** records that wait, over all connectors that know */
  readonly lag: number
  /** totals since the start of the host */
  readonly accepted: number
  readonly rejected: number
  readonly retried: number
}

export interface ConnectorsApi {
  readonly sources: SourceApi
  readonly sinks: ConnectorApi<Sink>
}

export interface SourceApi extends ConnectorApi<Source> {
  /** Tries rejected records again, with the document and converter as they are now: all of them or the named ones. */
  retry(name: string, ids?: readonly string[]): Promise<Retried>
  /** Forgets a rejected record. */
  forget(name: string, id: string): Promise<void>
}

export interface ConnectorApi<Shown> {
  /** Creates or replaces a connector, and starts it. A source keeps its position. `created`: true when it is new. */
  put(name: string, body: unknown): Promise<{ readonly connector: Shown; readonly created: boolean }>
  get(name: string): Promise<Shown>
  list(): Promise<readonly Shown[]>
  /** Stops and removes a connector, with its position and its rejected records. */
  remove(name: string): Promise<void>
  pause(name: string): Promise<Shown>
  resume(name: string): Promise<Shown>
  /** Connects once, beside the running connection. */
  test(name: string): Promise<Tested>
  rejected(name: string, query?: RejectedQuery): Promise<RejectedList>
}
