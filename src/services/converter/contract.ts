/**
 * Contract of converters, named templates that turn payloads of devices and gateways into messages; in process and over
 * fetch (`client.ts`). The service validates external input itself: a body may be any JSON.
 *
 * CONVERTER-1 a received payload (`ingest`, MQTT) is forwarded, or stored as rejected, before it is acknowledged
 * CONVERTER-2 the same payload under the same key is forwarded once, even across a crash, and rejected once
 * CONVERTER-3 the list of rejected payloads is limited: when it is full, payloads that cannot be converted are not
 *   accepted
 * CONVERTER-4 a rendering ends within its limits, and can access only its payload
 * CONVERTER-5 no method grants access to a converter of another tenant
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `TEMPLATE` (the template cannot be read), `CONVERSION`
 * (the rendered result cannot be used), `FORWARDING` (the broker or the resources failed), `NOT_FOUND`, `CONFLICT` (a
 * key used for another payload), `TOO_LARGE`, `RATE_LIMITED` (too much is waiting, or too many payloads are rejected).
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
  /** Converts a payload without forwarding the result. `topic`: that of the payload, for the template. */
  render(name: string, payload: unknown, topic?: string): Promise<Converted & Pick<Converter, 'identityIgnores'>>
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
