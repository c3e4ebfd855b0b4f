/**
 * Contract of converters, named templates that turn payloads of devices and gateways into messages; in process and over
 * fetch (`client.ts`). The service validates external input itself: a body may be any JSON.
 *
 * CONVERTER-1 what was taken (`ingest`, a topic of MQTT) is forwarded, or in the list of rejected payloads, before it
 *   is acknowledged
 * CONVERTER-2 the same payload under the same key is forwarded once, also over a crash, and rejected once
 * CONVERTER-3 the list of rejected payloads is bounded: beyond it nothing more is taken that cannot be converted
 * CONVERTER-4 a rendering ends within its limits, and reaches nothing but its payload
 * CONVERTER-5 no method reaches a converter of another tenant
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `TEMPLATE` (the template cannot be read), `CONVERSION`
 * (what it makes of the payload cannot be used), `FORWARDING` (broker or resources did not take it), `NOT_FOUND`,
 * `CONFLICT` (a key used for another payload), `TOO_LARGE`, `RATE_LIMITED` (too much waits, or too many payloads are
 * rejected).
 */
import type { Caller } from '#kernel'
import type {
  Converted,
  Converter,
  Ingested,
  RejectedList,
  RejectedQuery,
  Retried,
  Tested,
} from './converter-schema.ts'

export type { Converted } from './converter-schema.ts'

export interface ConverterService {
  as(caller: Caller): ConverterApi
}

/** The converter service for use inside the host. */
export interface InternalConverter extends ConverterService {
  as(caller: Caller): RoutedConverter
  /**
   * Processes a message on an MQTT topic. Resolves to true once the message is durably forwarded or stored as rejected,
   * and to false when no converter has the topic. Rejects when the message should be sent again.
   */
  take(caller: Caller, topic: string, payload: Uint8Array): Promise<boolean>
  gauges(): ConverterGauges
}

/** Totals since the start of the host. */
export interface ConverterGauges {
  readonly converted: number
  readonly rejected: number
}

export interface ConvertOptions {
  /** whether to forward the result too; default false */
  readonly forward?: boolean
}

export interface IngestOptions {
  /** idempotency key: within a day, the same key with the same payload has no further effect */
  readonly idempotencyKey?: string
}

export interface RoutedConverter extends ConverterApi {
  /** Like `test`, with the request as sent: an object of the arguments, or a `Payload` with that object. */
  testSent(request: unknown): Promise<Tested>
}

export interface ConverterApi {
  /** Creates or replaces a converter. `created`: true when it is new. */
  put(name: string, body: unknown): Promise<{ readonly converter: Converter; readonly created: boolean }>
  get(name: string): Promise<Converter>
  list(): Promise<Readonly<Record<string, Omit<Converter, 'name'>>>>
  remove(name: string): Promise<Converter>
  /** `payload`, here and below, is JSON, or a `Payload`, which keeps the order of keys and all digits. */
  convert(name: string, payload: unknown, options?: ConvertOptions): Promise<Converted>
  /** `topic`: simulates the topic of the payload. */
  test(config: unknown, payload: unknown, topic?: string): Promise<Tested>
  ingest(name: string, payload: unknown, options?: IngestOptions): Promise<Ingested>
  readonly rejected: {
    list(name: string, query?: RejectedQuery): Promise<RejectedList>
    retry(name: string, ids?: readonly string[]): Promise<Retried>
    remove(name: string, id: string): Promise<void>
  }
}
