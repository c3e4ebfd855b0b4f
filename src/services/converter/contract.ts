/**
 * Converters as others see them: named templates that make messages of whatever a device or a gateway sends. The same
 * over HTTP and over fetch (`client.ts`). Whatever comes from outside is read by the service itself: a body may be any
 * JSON.
 *
 * CONVERTER-1 what was taken (`ingest`, a topic of MQTT) is forwarded, or in the list of rejected payloads, before it is
 *   acknowledged
 * CONVERTER-2 the same payload under the same key is forwarded once, also over a crash, and rejected once
 * CONVERTER-3 the list of rejected payloads is bounded: beyond it nothing more is taken that cannot be converted
 * CONVERTER-4 a rendering ends within its limits, and reaches nothing but its payload
 * CONVERTER-5 no method reaches a converter of another tenant
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `TEMPLATE` (the template cannot be read), `CONVERSION` (what
 * it makes of the payload cannot be used), `FORWARDING` (broker or resources did not take it), `NOT_FOUND`, `CONFLICT`
 * (a key used for another payload), `TOO_LARGE`, `RATE_LIMITED` (too much waits, or too many payloads are rejected).
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

/** The service as callers reach it. */
export interface ConverterService {
  as(caller: Caller): ConverterApi
}

/** The service inside the host: what its neighbours and the host call. */
export interface InternalConverter extends ConverterService {
  as(caller: Caller): RoutedConverter
  /**
   * A message on a topic of MQTT. Resolves to true when it is durable, forwarded or among the rejected payloads, and to
   * false when no converter has that topic. Rejects when it should come again.
   */
  take(caller: Caller, topic: string, payload: Uint8Array): Promise<boolean>
  gauges(): ConverterGauges
}

/** Totals since the start. */
export interface ConverterGauges {
  readonly converted: number
  readonly rejected: number
}

export interface ConvertOptions {
  /** default false: also forwards it */
  readonly forward?: boolean
}

export interface IngestOptions {
  /** the same key within a day, with the same payload: nothing is done twice */
  readonly idempotencyKey?: string
}

/** What routes call besides. */
export interface RoutedConverter extends ConverterApi {
  /** `test` as it was sent: an object of its arguments, or a `Payload` of one. */
  testSent(request: unknown): Promise<Tested>
}

export interface ConverterApi {
  /** `created`: it was not there. */
  put(name: string, body: unknown): Promise<{ readonly converter: Converter; readonly created: boolean }>
  get(name: string): Promise<Converter>
  /** By name. */
  list(): Promise<Readonly<Record<string, Omit<Converter, 'name'>>>>
  /** Gives what was removed. Its rejected payloads stay, for a converter of the same name. */
  remove(name: string): Promise<Converter>
  /** `payload` here and below: JSON, or a `Payload`, which keeps the order of keys and all digits. */
  convert(name: string, payload: unknown, options?: ConvertOptions): Promise<Converted>
  /** `topic`: as if it had come on it. */
  test(config: unknown, payload: unknown, topic?: string): Promise<Tested>
  ingest(name: string, payload: unknown, options?: IngestOptions): Promise<Ingested>
  readonly rejected: {
    list(name: string, query?: RejectedQuery): Promise<RejectedList>
    /** Tries them again, all of them when no ids are given, at most 1,000. */
    retry(name: string, ids?: readonly string[]): Promise<Retried>
    remove(name: string, id: string): Promise<void>
  }
}
