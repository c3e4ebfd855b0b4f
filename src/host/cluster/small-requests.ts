/**
 * Requests that are small enough to be held whole while they are handed to another host, with answers that are: each is one
 * write, and a request whose connection is refused can be asked again. Nearly all are small; what is not goes by streams.
 *
 * SMALL-1 a body is held only while all of them together have room; whoever comes then goes by streams, which wait
 * SMALL-2 nothing of an answer is sent before it is known to be whole, unless it goes by a stream
 */
import type { OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Agent, Dispatcher } from 'undici'
import { HOP_HEADER } from './hop.ts'

/** bytes of a body, and of an answer */
const MAX_BYTES = 65_536
/** bytes of all bodies that are held */
const MAX_HELD = 64 * 1_048_576

/** They are about one connection, or told anew. */
const DROPPED: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'expect', HOP_HEADER])
/** What `Connection` says as a rule; other words in it name headers that are about the connection too. */
const USUAL_CONNECTION: ReadonlySet<string> = new Set(['keep-alive', 'close'])

/** Hears of a request that was asked of another host. */
interface Asking {
  readonly reply: FastifyReply
  /** Nobody waits for the answer any more. */
  isOver(): boolean
  /** The answer is large, or does not tell its length: its head is in the reply, and its body comes. */
  stream(body: Readable): void
  /** There is no answer, or not all of one that was to be held. Not told when nobody waits. */
  failed(error: Error): void
}

export class SmallRequests {
  readonly #agent: Agent
  #held = 0

  constructor(agent: Agent) {
    this.#agent = agent
  }

  /** Whether it can be held, by what its head says. */
  takes({ method, headers, routeOptions }: FastifyRequest): boolean {
    const { connection = 'keep-alive', 'content-length': length = '0', upgrade } = headers
    if (upgrade !== undefined || headers['transfer-encoding'] !== undefined) return false
    if (!USUAL_CONNECTION.has(connection.toLowerCase()) || routeOptions.config.takesStream === true) return false
    const bytes = Number(length)
    if (isGetOrHead(method)) return bytes === 0
    return bytes <= MAX_BYTES && this.#held + bytes <= MAX_HELD
  }

  /** `done` hears the whole body, or nothing when the client is gone before. */
  read({ raw, headers }: FastifyRequest, reply: FastifyReply, done: (body: Buffer) => void): void {
    const bytes = Number(headers['content-length'] ?? '0')
    if (bytes === 0) return done(Buffer.alloc(0))
    this.#held += bytes
    reply.raw.once('close', () => (this.#held -= bytes))
    const pieces: Buffer[] = []
    raw.on('data', (piece: Buffer) => pieces.push(piece))
    // its `close` follows
    raw.on('error', () => undefined)
    raw.once('end', () => {
      const [first] = pieces
      done(first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces))
    })
  }

  /** `origin`: address of the host. `hop`: what says who hands on. */
  ask(origin: string, { raw, method }: FastifyRequest, body: Buffer, hop: string, asking: Asking): void {
    const headers: string[] = [HOP_HEADER, hop]
    const { rawHeaders } = raw
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at] ?? ''
      if (!DROPPED.has(name.toLowerCase())) headers.push(name, rawHeaders[at + 1] ?? '')
    }
    const asked = { origin, path: raw.url ?? '/', method, headers }
    this.#agent.dispatch(
      { ...asked, body: body.length === 0 ? null : body },
      new SmallAnswer(asking, method === 'HEAD'),
    )
  }
}

/** An answer on its way back. */
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
    if (this.#asking.isOver()) controller.abort(new Error('nobody waits for it'))
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    // only says that there will be an answer
    if (status < 200) return
    if (this.#asking.isOver()) return controller.abort(new Error('nobody waits for it'))
    this.#status = status
    this.#headers = headersOf(controller.rawHeaders)
    const hasNone = this.#isHead || status === 204 || status === 304
    if (hasNone || Number(this.#headers['content-length'] ?? Number.NaN) <= MAX_BYTES) return
    const stream = new Readable({
      read: () => controller.resume(),
      destroy: (error, done) => {
        controller.abort(error ?? new Error('nobody reads it'))
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
    this.#putHead()
    const { reply } = this.#asking
    reply.hijack()
    const { raw } = reply
    raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
    // a text goes out with its head at once; each of these characters is a byte
    raw.end(this.#pieces.map((piece) => piece.toString('latin1')).join(''), 'latin1')
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

/** Byte by byte, as servers of Node write them; parsed ones were taken for UTF-8. Only HTTP/2, which is not spoken here, gives no list. */
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
