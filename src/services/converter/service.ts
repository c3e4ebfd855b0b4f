/** The converters of a tenant, on top of its store, the broker and the resources. */
import { isUtf8 } from 'node:buffer'
import { AppError, type Caller, isTooLongForId, KeyedMutex, makeIssue, MAX_ID_BYTES, messageOf, refuse } from '#kernel'
import type { Store } from '#storage'
import { isAddressable, issueLine, NOT_ADDRESSABLE, Payload, payloadValue } from '#services/shared'
import {
  type Conversions,
  type ConversionsElsewhere,
  type ConversionWork,
  type Input,
  readTest,
  UNREADABLE,
} from './conversion.ts'
import { Converters } from './converters.ts'
import type { ConverterGauges, InternalConverter, RoutedConverter } from './contract.ts'
import {
  type Converted,
  type Converter,
  ConverterConfiguration,
  type Ingested,
  type Retried,
  type Tested,
} from './converter-schema.ts'
import { forward, type Neighbours, previewOf, refuseUnresolved } from './forwarding.ts'
import { RejectedPayloads, type RejectedRecord, type Rejection } from './rejected.ts'
import { wildcardsOf } from './topics.ts'

export interface ConverterDependencies extends Neighbours {
  readonly tenant: string
  readonly store: Store
  readonly conversions: Conversions
  readonly now: () => number
  readonly newId: () => string
  /** runs long conversions on other threads; default: on this thread */
  readonly elsewhere?: ConversionsElsewhere
}

/** Errors caused by the payload itself, which would occur again. */
const REFUSALS = new Set(['TEMPLATE', 'CONVERSION', 'VALIDATION', 'NOT_JSON', 'TOO_LARGE'])

export class ConverterService implements InternalConverter {
  readonly #dependencies: ConverterDependencies
  readonly #converters: Converters
  readonly #rejectedPayloads: RejectedPayloads
  readonly #turns = new KeyedMutex()
  readonly #elsewhere = new Map<string, Promise<void>>()
  #converted = 0
  #rejected = 0

  constructor(dependencies: ConverterDependencies) {
    const { store, now } = dependencies
    this.#dependencies = dependencies
    this.#converters = new Converters(store, now)
    this.#rejectedPayloads = new RejectedPayloads(store)
  }

  as(caller: Caller): RoutedConverter {
    const [converters, rejected] = [this.#converters, this.#rejectedPayloads]
    return {
      put: async (name, body) => {
        const converter = converterOf(name, body)
        await this.#prepare(converter)
        const created = await this.#turns.run(name, () => converters.put(converter))
        return { converter, created }
      },
      get: (name) => converters.get(name),
      list: async () => {
        return Object.fromEntries((await converters.all()).map(({ name, ...rest }) => [name, rest]))
      },
      remove: (name) => this.#turns.run(name, () => converters.remove(name)),
      convert: async (name, payload, { forward: forwards = false } = {}) => {
        const stored = await converters.get(name)
        const converted = await asSent(this.#convert(stored, { payload }))
        if (forwards) await this.#forward(caller, stored, converted, undefined)
        return converted
      },
      test: (config, payload, topic) => this.#test({ config, payload, ...(topic !== undefined && { topic }) }),
      testSent: (request) => asSent(this.#test(request)),
      ingest: async (name, payload, { idempotencyKey: clientKey } = {}) => {
        if (clientKey === '' || (clientKey !== undefined && clientKey.length > 500)) {
          throw new AppError('VALIDATION', 'Idempotency-Key: send 1 to 500 characters')
        }
        const converter = await converters.used(name)
        // without a key from the client, none is generated: the client could not repeat it, and storing it costs a
        // write
        const key = clientKey === undefined ? undefined : this.#keyOf(name, clientKey)
        const taken = { payload: () => payload, key, isSent: true }
        const ingested = this.#ingest(caller, converter, taken, () => {
          const text = payload instanceof Payload ? payload.text : (JSON.stringify(payload) ?? 'null')
          return { converter: name, payload: text, encoding: 'utf8', key: key ?? this.#keyOf(name) }
        })
        return asSent(ingested)
      },
      rejected: {
        list: async (name, query = {}) => {
          checkName(name)
          const found = await rejected.list(name, query)
          // rejected payloads outlive their converter
          if (found.total === 0) await converters.get(name)
          return found
        },
        retry: (name, ids) => this.#retry(caller, name, ids),
        remove: async (name, id) => {
          if (!(await rejected.remove(name, id)))
            throw new AppError('NOT_FOUND', `No rejected payload '${id.slice(0, 200)}'`)
        },
      },
    }
  }

  async take(caller: Caller, topic: string, payload: Uint8Array): Promise<boolean> {
    const fitting = await this.#converters.fitting(topic)
    const bytes = Buffer.from(payload)
    const encoding = isUtf8(bytes) ? 'utf8' : 'base64'
    for (const { converter, wildcards } of fitting) {
      const text = bytes.toString(encoding)
      const taken = { payload: () => parsed({ payload: text, encoding }), wildcards, key: undefined }
      await this.#ingest(caller, converter, taken, () => {
        const key = this.#keyOf(converter.name)
        return { converter: converter.name, payload: text, encoding, topic, wildcards, key }
      })
    }
    return fitting.length > 0
  }

  async render(name: string, payload: unknown, topic = ''): ReturnType<InternalConverter['render']> {
    const converter = await this.#converters.used(name)
    const { mqtt, identityIgnores } = converter
    const wildcards = mqtt && wildcardsOf(mqtt.topic, topic)
    const converted = await this.#inTurn(converter, { payload, ...(wildcards && { topic: wildcards }) })
    refuseUnresolved(converted)
    return { ...converted, ...(identityIgnores && { identityIgnores }) }
  }

  gauges(): ConverterGauges {
    return { converted: this.#converted, rejected: this.#rejected }
  }

  #keyOf(converter: string, key = this.#dependencies.newId()): string {
    return `converter ${converter} ${key}`
  }

  /** Resolves when durably forwarded or stored as rejected. */
  async #ingest(
    caller: Caller,
    converter: Converter,
    taken: AcceptedPayload,
    rejection: () => Rejection,
  ): Promise<Ingested> {
    try {
      return { messages: await this.#pass(caller, converter, taken) }
    } catch (error) {
      if (!(error instanceof AppError) || !REFUSALS.has(error.code)) throw error
      // short payloads fail while being parsed, before they get here
      if (taken.isSent === true && isUnreadable(error)) throw error
      const { now } = this.#dependencies
      const id = await this.#turns.run(converter.name, () => this.#rejectedPayloads.add(rejection(), error, now()))
      this.#rejected++
      return { messages: 0, rejected: id }
    }
  }

  /** Not async, so that the result does not stay in memory while it is being forwarded. */
  #pass(caller: Caller, converter: Converter, { payload, wildcards, key }: AcceptedPayload): Promise<number> {
    const input = { payload: payload(), ...(wildcards && { topic: wildcards }) }
    const converted = this.#inTurn(converter, input)
    const forward = (result: Converted): Promise<number> => {
      const { length } = result.metrics
      return this.#forward(caller, converter, result, key).then(() => length)
    }
    return converted instanceof Promise ? converted.then(forward) : forward(converted)
  }

  /** Like `#convert`, but in order: a conversion never overtakes a longer one of the same converter. */
  #inTurn(converter: Converter, input: Input): Converted | Promise<Converted> {
    const { name } = converter
    const before = this.#elsewhere.get(name)
    const convert = (): Converted | Promise<Converted> => this.#convert(converter, input)
    const converted = before === undefined ? convert() : before.then(convert)
    if (!(converted instanceof Promise)) return converted
    const over = (): void => {
      if (this.#elsewhere.get(name) === settled) this.#elsewhere.delete(name)
    }
    const settled = converted.then(over, over)
    this.#elsewhere.set(name, settled)
    return converted
  }

  #convert({ template, compat }: Template, input: Input): Converted | Promise<Converted> {
    const { tenant, conversions, elsewhere } = this.#dependencies
    const converter = { template, ...(compat && { compat }) }
    const { payload, ...topic } = input
    if (elsewhere !== undefined && payload instanceof Payload && payload.isUnread) {
      return elsewhere.convert(tenant, { converter, input: { ...topic, text: payload.text } })
    }
    const read = { ...topic, payload: payloadValue(payload) }
    if (elsewhere === undefined) return conversions.convert(converter, read)
    return conversions.convertSmall(converter, read) ?? elsewhere.convert(tenant, { converter, input: read })
  }

  async #prepare({ template, compat }: Template): Promise<void> {
    const { tenant, conversions, elsewhere } = this.#dependencies
    const converter = { template, ...(compat && { compat }) }
    if (elsewhere === undefined || conversions.isSmall(converter)) conversions.prepare(converter)
    else await elsewhere.prepare(tenant, converter)
  }

  #forward(
    caller: Caller,
    { identityIgnores }: Converter,
    converted: Converted,
    key: string | undefined,
  ): Promise<void> {
    const posting = { ...(key !== undefined && { idempotencyKey: key }), ...(identityIgnores && { identityIgnores }) }
    return forward(this.#dependencies, caller, converted, posting).then(() => void this.#converted++)
  }

  async #test(request: unknown): Promise<Tested> {
    const { tenant, elsewhere } = this.#dependencies
    let converted: Converted
    if (elsewhere !== undefined && request instanceof Payload && request.isUnread) {
      converted = await elsewhere.test(tenant, request.text)
    } else {
      const { converter, input } = readTest(payloadValue(request))
      converted = await this.#convert(converter, input)
    }
    const issues =
      converted.metrics.length === 0 ? [] : (this.#dependencies.broker()?.check('events', converted.metrics) ?? [])
    const refusals = issues
      .filter(({ severity }) => severity === 'ERROR')
      .map((issue) => `would be rejected: ${issueLine(issue)}`)
    return previewOf(converted, refusals)
  }

  async #retry(caller: Caller, name: string, ids: readonly string[] | undefined): Promise<Retried> {
    const [converters, rejected] = [this.#converters, this.#rejectedPayloads]
    const converter = await converters.get(name)
    const forwarded: string[] = []
    const failed: Retried['failed'][number][] = []
    for (const { id, value } of await rejected.some(name, ids)) {
      try {
        const { wildcards, key } = value
        await this.#pass(caller, converter, { payload: () => parsed(value), wildcards, key })
        await rejected.remove(name, id)
        forwarded.push(id)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        if (REFUSALS.has(error.code)) await rejected.failedAgain(id, value, error)
        failed.push({ id, error: messageOf(error).slice(0, 1_000) })
      }
    }
    return { forwarded, failed }
  }
}

type Template = ConversionWork['converter']

/** Reads a converter. Throws `VALIDATION`. The syntax of the template is checked when it is compiled. */
function converterOf(name: string, body: unknown): Converter {
  checkName(name)
  return { ...ConverterConfiguration.read(body), name }
}

function checkName(name: string): void {
  if (name === '' || /[\p{Cc}\p{Surrogate}]/u.test(name)) throw wrongName('must be a text without controls')
  if (isTooLongForId(name)) throw wrongName(`is longer than ${MAX_ID_BYTES} bytes`)
  if (!isAddressable(name)) throw wrongName(NOT_ADDRESSABLE)
}

function wrongName(message: string): AppError {
  return refuse('the converter', [makeIssue('NAME', '/name', message)])
}

interface AcceptedPayload {
  readonly payload: () => unknown
  readonly wildcards?: readonly string[] | undefined
  /** true when the sender waits for a response, which describes an unreadable payload */
  readonly isSent?: boolean
  readonly key: string | undefined
}

function parsed({ payload, encoding }: Pick<RejectedRecord, 'payload' | 'encoding'>): unknown {
  if (encoding === 'base64') throw new AppError('NOT_JSON', 'the payload is not JSON: it is not UTF-8')
  return new Payload(payload)
}

function isUnreadable(error: unknown): error is AppError {
  return error instanceof AppError && error.issues[0]?.type === UNREADABLE
}

/** Rejects an unreadable long text in the same way as a short one, which fails earlier. */
async function asSent<T>(work: T | Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw isUnreadable(error) ? new AppError(error.code, error.message) : error
  }
}
