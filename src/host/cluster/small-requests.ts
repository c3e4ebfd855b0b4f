/**
 * Forwards requests whose bodies and answers are small enough to be held whole. They are sent in frames over a
 * persistent connection (frames/) once that is open, otherwise over HTTP, where a refused connection permits a retry.
 * Larger requests are streamed.
 *
 * SMALL-1 bodies are held only while their total stays below a limit; further requests wait as streams
 * SMALL-2 nothing of an answer is sent before it is complete, unless it is streamed
 */
import type { OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Agent, Dispatcher } from 'undici'
import type { FrameClients, FramedAsking } from './frames/frame-clients.ts'
import { type AnswerHead, type HeaderValue, MAX_BODY } from './frames/frame-kinds.ts'
import { HOP_HEADER, type Hop, type Hops } from './hop.ts'

/** Maximum bytes of a body or answer that is held */
const MAX_BYTES = MAX_BODY
/** Maximum total bytes of all held bodies */
const MAX_HELD = 64 * 1_048_576

const DROPPED: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'expect', HOP_HEADER])
/** Usual values of `Connection`; other values name further headers that concern a single connection. */
const USUAL_CONNECTION: ReadonlySet<string> = new Set(['keep-alive', 'close'])

interface Asking {
  readonly reply: FastifyReply
  isOver(): boolean
  /** Receives the body of an answer that is large or of unknown length; the head is already in the reply. */
  stream(body: Readable): void
  /** Called when the answer failed or broke off, unless the request was cancelled. */
  failed(error: Error): void
}

export interface SmallRequestsOptions {
  readonly agent: Agent
  readonly frames: Pick<FrameClients, 'to'>
  readonly hops: Hops
}

export class SmallRequests {
  readonly #options: SmallRequestsOptions
  #held = 0
  #framed = 0

  constructor(options: SmallRequestsOptions) {
    this.#options = options
  }

  get framed(): number {
    return this.#framed
  }

  takes({ method, headers, routeOptions }: FastifyRequest): boolean {
    const { connection = 'keep-alive', 'content-length': length = '0', upgrade } = headers
    if (upgrade !== undefined || headers['transfer-encoding'] !== undefined) return false
    if (!USUAL_CONNECTION.has(connection.toLowerCase()) || routeOptions.config.takesStream === true) return false
    const bytes = Number(length)
    if (isGetOrHead(method)) return bytes === 0
    return bytes <= MAX_BYTES && this.#held + bytes <= MAX_HELD
  }

  /** Reads the body. `done` receives the whole body, and is not called if the client disconnects. */
  read({ raw, headers }: FastifyRequest, reply: FastifyReply, done: (body: Buffer) => void): void {
    const bytes = Number(headers['content-length'] ?? '0')
    if (bytes === 0) return done(Buffer.alloc(0))
    this.#held += bytes
    reply.raw.once('close', () => (this.#held -= bytes))
    const pieces: Buffer[] = []
    raw.on('data', (piece: Buffer) => pieces.push(piece))
    // ignored, since `close` follows
    raw.on('error', () => undefined)
    raw.once('end', () => {
      const [first] = pieces
      done(first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces))
    })
  }

  /** `origin`: address of the other host. `mark`: sent in the hop header */
  ask(origin: string, request: FastifyRequest, body: Buffer, mark: Hop, asking: Asking): void {
    if (this.#askInFrame(origin, request, body, mark, asking)) return
    const { raw, method } = request
    const url = raw.url ?? '/'
    const headers: string[] = [HOP_HEADER, this.#options.hops.sign(method, url, mark)]
    const { rawHeaders } = raw
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at] ?? ''
      if (!DROPPED.has(name.toLowerCase())) headers.push(name, rawHeaders[at + 1] ?? '')
    }
    this.#options.agent.dispatch(
      { origin, path: url, method, headers, body: body.length === 0 ? null : body },
      new SmallAnswer(asking, method === 'HEAD'),
    )
  }

  #askInFrame(origin: string, { raw, method }: FastifyRequest, body: Buffer, mark: Hop, asking: Asking): boolean {
    const link = this.#options.frames.to(origin)
    const headers = link && onceEach(raw)
    if (link === undefined || headers === undefined) return false
    const answer = new FramedAnswer(asking, (bytes) => number !== undefined && link.more(number, bytes))
    const number = link.ask({ method, url: raw.url ?? '/', headers }, mark, body, answer)
    if (number === undefined) return false
    this.#framed += 1
    asking.reply.raw.once('close', () => link.drop(number))
    return true
  }
}

/** Returns the headers to forward, by name; undefined when a header occurs more than once. */
function onceEach({ rawHeaders }: FastifyRequest['raw']): Readonly<Record<string, string>> | undefined {
  const headers: Record<string, string> = {}
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase()
    if (DROPPED.has(name)) continue
    if (headers[name] !== undefined) return undefined
    headers[name] = rawHeaders[at + 1] ?? ''
  }
  return headers
}

class FramedAnswer implements FramedAsking {
  readonly #asking: Asking
  readonly #more: (bytes: number) => void
  #stream: Readable | undefined
  /** Received bytes that the reader has not consumed yet */
  #unread = 0

  constructor(asking: Asking, more: (bytes: number) => void) {
    this.#asking = asking
    this.#more = more
  }

  whole([status, headers]: AnswerHead, body: Buffer): void {
    const { reply } = this.#asking
    if (this.#asking.isOver()) return
    try {
      sendWhole(reply, status, headers, body.toString('latin1'))
    } catch (error) {
      // an answer with invalid headers must not affect other requests of the connection
      reply.log.error({ err: error }, 'an answer of another host cannot be returned')
      reply.raw.destroy()
    }
  }

  begun([status, headers]: AnswerHead): void {
    if (this.#asking.isOver()) return
    const { reply } = this.#asking
    reply.code(status)
    for (const name of Object.keys(headers)) if (!DROPPED.has(name)) reply.header(name, headers[name])
    this.#stream = new Readable({
      read: () => {
        if (this.#unread > 0) this.#more(this.#unread)
        this.#unread = 0
      },
    })
    this.#asking.stream(this.#stream)
  }

  piece(bytes: Buffer): void {
    if (this.#stream?.push(bytes) === true) this.#more(bytes.length)
    else this.#unread += bytes.length
  }

  ended(): void {
    this.#stream?.push(null)
  }

  failed(error: Error): void {
    if (this.#stream !== undefined) this.#stream.destroy(error)
    else if (!this.#asking.isOver()) this.#asking.failed(error)
  }
}

/** Sends a whole answer. `body`: one character per byte, since a string is written together with the head. */
function sendWhole(
  reply: FastifyReply,
  status: number,
  given: Readonly<Record<string, HeaderValue | undefined>>,
  body: string,
): void {
  reply.hijack()
  const { raw } = reply
  const headers = reply.getHeaders()
  for (const name of Object.keys(given)) if (!DROPPED.has(name)) headers[name] = given[name] as string
  raw.writeHead(status, headers as OutgoingHttpHeaders)
  raw.end(body, 'latin1')
}

class SmallAnswer implements Dispatcher.DispatchHandler {
  readonly #asking: Asking
  readonly #isHead: boolean
  readonly #pieces: Buffer[] = []
  #status = 0
  #headers: Record<string, string | string[]> = {}
  #stream: Readable | undefined

  constructor(asking: Asking, isHead: boolean) {
    this.#asking = asking
    this.#isHead = isHead
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#asking.isOver()) controller.abort(new Error('the request was cancelled'))
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200) return
    if (this.#asking.isOver()) return controller.abort(new Error('the request was cancelled'))
    this.#status = status
    this.#headers = headersOf(controller.rawHeaders)
    const hasNone = this.#isHead || status === 204 || status === 304
    if (hasNone || Number(this.#headers['content-length'] ?? Number.NaN) <= MAX_BYTES) return
    const stream = new Readable({
      read: () => controller.resume(),
      destroy: (error, done) => {
        controller.abort(error ?? new Error('the reader has disconnected'))
        done(error)
      },
    })
    this.#stream = stream
    this.#putHead()
    this.#asking.stream(stream)
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#stream === undefined) this.#pieces.push(piece)
    else if (!this.#stream.push(piece)) controller.pause()
  }

  onResponseEnd(): void {
    if (this.#stream !== undefined) return void this.#stream.push(null)
    if (this.#asking.isOver()) return
    const body = this.#pieces.map((piece) => piece.toString('latin1')).join('')
    sendWhole(this.#asking.reply, this.#status, this.#headers, body)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#stream !== undefined) this.#stream.destroy(error)
    else if (!this.#asking.isOver()) this.#asking.failed(error)
  }

  #putHead(): void {
    const { reply } = this.#asking
    reply.code(this.#status)
    for (const name of Object.keys(this.#headers)) reply.header(name, this.#headers[name])
  }
}

/** Decodes raw headers as latin1, the way Node servers write them; undici's parsed headers were decoded as UTF-8. */
function headersOf(raw: Dispatcher.DispatchController['rawHeaders']): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {}
  if (!Array.isArray(raw)) return headers
  for (let at = 0; at < raw.length; at += 2) {
    const name = String(raw[at]).toLowerCase()
    if (DROPPED.has(name)) continue
    const value = raw[at + 1]
    const text = Buffer.isBuffer(value) ? value.toString('latin1') : String(value)
    const before = headers[name]
    headers[name] = before === undefined ? text : [before, text].flat()
  }
  return headers
}

export function isGetOrHead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}
