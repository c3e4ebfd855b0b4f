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
import type { Caller, Json, JsonObject } from '#kernel'

/** The service as callers reach it. */
export interface ConverterService {
  as(caller: Caller): ConverterApi
}

/** The service, as its neighbours and its host have it. */
export interface OperatedConverter extends ConverterService {
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

/** A converter as it is stored and shown. */
export interface Converter {
  readonly name: string
  readonly type: 'velocity'
  readonly template: string
  /** version of Apache Velocity whose ways the template follows; absent: 1.7 */
  readonly compat?: '1.7' | '2.4'
  /** a filter of topics; what its wildcards stand for is `$topic[0]`, `$topic[1]` ... */
  readonly mqtt?: { readonly topic: string }
  /** keys of what it makes that do not count when a message is compared with one that was taken, besides those of the host */
  readonly identityIgnores?: readonly string[]
}

export type ConvertedEntry = JsonObject & { readonly resource: string }

/** What a template makes. */
export interface Converted {
  /** each with its metrics, and `timestamp` in epoch ms when it is not now */
  readonly metrics: readonly ConvertedEntry[]
  /** each with attributes of the resource */
  readonly metadata?: readonly ConvertedEntry[]
}

/** What a test tells besides. */
export interface Tested extends Converted {
  readonly stored: {
    /** samples as series get them */
    readonly samples: readonly { readonly resource: string; readonly metric: string; readonly value: Json }[]
    /** attributes by resource */
    readonly metadata: Readonly<Record<string, JsonObject>>
  }
  /** what is stored, and hardly meant: texts that are numbers, references that nothing was found for ... */
  readonly warnings: readonly string[]
}

export interface ConvertOptions {
  /** default false: also forwards it */
  readonly forward?: boolean
}

export interface IngestOptions {
  /** the same key within a day, with the same payload: nothing is done twice */
  readonly idempotencyKey?: string
}

/** `rejected`: the id among the rejected payloads; absent when it was forwarded. */
export interface Ingested {
  readonly messages: number
  readonly rejected?: string
}

/** A payload that could not be converted. */
export interface RejectedPayload {
  readonly id: string
  /** ISO 8601 */
  readonly time: string
  /** the topic of MQTT that it came on */
  readonly topic?: string
  readonly error: string
  readonly code: string
  /** of the template */
  readonly line?: number
  readonly column?: number
  /** as it came: a text, which need not be JSON */
  readonly payload: string
  /** `base64` for bytes that are no UTF-8 */
  readonly encoding: 'utf8' | 'base64'
  /** how often it was tried */
  readonly tries: number
}

export interface RejectedQuery {
  /** default 100, at most 1,000 */
  readonly limit?: number
  /** those after the one with this id */
  readonly after?: string
}

export interface RejectedList {
  /** of the converter, also those that are not in this list */
  readonly total: number
  /** by id */
  readonly rejected: readonly RejectedPayload[]
}

export interface Retried {
  /** ids of those that were forwarded, and are in the list no more */
  readonly forwarded: readonly string[]
  readonly failed: readonly { readonly id: string; readonly error: string }[]
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
