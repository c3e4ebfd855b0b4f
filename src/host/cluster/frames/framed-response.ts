/**
 * Represents the answer to a framed request for the server's own handler: the parts of `ServerResponse` that Fastify
 * uses. An answer that ends before anything was sent becomes one frame; a streamed answer is sent in pieces, with flow
 * control.
 */
import { validateHeaderName, validateHeaderValue, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import { MAX_BODY, WINDOW, type HeaderValue } from './frame-kinds.ts'

type Headers = Record<string, HeaderValue>

export interface AnswerEvents {
  whole(status: number, headers: Headers, body: Uint8Array | string): void
  begun(status: number, headers: Headers): void
  piece(bytes: Uint8Array): void
  ended(): void
  broken(): void
}

export class FramedResponse extends Writable {
  statusCode = 200
  statusMessage = ''
  headersSent = false
  readonly #events: AnswerEvents
  readonly #hasBody: boolean
  #headers: Headers = {}
  #isBegun = false
  #whole: Uint8Array | string = ''
  /** Bytes sent but not yet acknowledged */
  #unread = 0
  #goOn: (() => void) | undefined

  constructor(method: string, events: AnswerEvents) {
    super()
    this.#events = events
    this.#hasBody = method !== 'HEAD'
  }

  get finished(): boolean {
    return this.writableEnded
  }

  get asResponse(): ServerResponse {
    return this as unknown as ServerResponse
  }

  setHeader(name: string, value: HeaderValue): this {
    if (this.headersSent) throw sentAlready('set')
    this.#set(name, value)
    return this
  }

  appendHeader(name: string, value: string | readonly string[]): this {
    const before = this.getHeader(name)
    return this.setHeader(name, before === undefined ? value : [before, value].flat().map(String))
  }

  getHeader(name: string): HeaderValue | undefined {
    return this.#headers[name.toLowerCase()]
  }

  getHeaders(): OutgoingHttpHeaders {
    return { ...this.#headers } as OutgoingHttpHeaders
  }

  getHeaderNames(): string[] {
    return Object.keys(this.#headers)
  }

  hasHeader(name: string): boolean {
    return Object.hasOwn(this.#headers, name.toLowerCase())
  }

  removeHeader(name: string): void {
    if (this.headersSent) throw sentAlready('remove')
    delete this.#headers[name.toLowerCase()]
  }

  writeHead(
    status: number,
    ...more: readonly (string | Readonly<Record<string, HeaderValue | undefined>> | undefined)[]
  ): this {
    if (this.headersSent) throw sentAlready('write')
    const headers = more.find((one) => typeof one === 'object') ?? {}
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) this.#set(name, value)
    this.statusCode = status
    this.headersSent = true
    return this
  }

  flushHeaders(): void {
    this.headersSent = true
    this.#begin()
  }

  /** Called when the other host has acknowledged bytes of pieces. */
  more(bytes: number): void {
    this.#unread -= bytes
    if (this.#unread > WINDOW) return
    this.#goOn?.()
    this.#goOn = undefined
  }

  override end(...given: readonly unknown[]): this {
    const [chunk, coding] = given
    const fits = (typeof chunk === 'string' || chunk instanceof Uint8Array) && chunk.length <= MAX_BODY / 3
    if (!fits || this.#isBegun || this.writableLength > 0 || this.writableEnded) {
      Reflect.apply(super.end, this, given)
      return this
    }
    this.headersSent = true
    this.#whole = typeof chunk === 'string' ? Buffer.from(chunk, coding as BufferEncoding | undefined) : chunk
    super.end(given[2] as (() => void) | undefined)
    return this
  }

  override _write(chunk: Buffer, _coding: string, done: () => void): void {
    this.#begin()
    if (!this.#mayHaveBody) return done()
    for (let at = 0; at < chunk.length; at += MAX_BODY) this.#events.piece(chunk.subarray(at, at + MAX_BODY))
    this.#unread += chunk.length
    if (this.#unread <= WINDOW) done()
    else this.#goOn = done
  }

  override _final(done: () => void): void {
    this.headersSent = true
    if (this.#isBegun) this.#events.ended()
    else this.#events.whole(this.statusCode, this.#headers, this.#mayHaveBody ? this.#whole : '')
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.writableFinished) this.#events.broken()
    done(error)
  }

  get #mayHaveBody(): boolean {
    return this.#hasBody && this.statusCode !== 204 && this.statusCode !== 304
  }

  #begin(): void {
    if (this.#isBegun) return
    this.#isBegun = true
    this.headersSent = true
    this.#events.begun(this.statusCode, this.#headers)
  }

  #set(name: string, value: HeaderValue): void {
    validateHeaderName(name)
    for (const one of Array.isArray(value) ? (value as readonly string[]) : [value])
      validateHeaderValue(name, String(one))
    this.#headers[name.toLowerCase()] = value
  }
}

function sentAlready(what: string): Error {
  const message = `Cannot ${what} headers after they are sent to the client`
  return Object.assign(new Error(message), { code: 'ERR_HTTP_HEADERS_SENT' })
}
