/**
 * Sends requests to other hosts over kept connections, and pipes the answers back. After an upgrade, for example to a
 * WebSocket, bytes are piped in both directions until one side ends.
 *
 * FORWARD-1 bodies are held only while their total stays below a limit; further requests are streamed
 */
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request as askPlain } from 'node:http'
import { Agent as SecureAgent, request as askSecurely } from 'node:https'
import { type Duplex, pipeline } from 'node:stream'
import { urlToHttpOptions } from 'node:url'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Timers } from '../timers.ts'
import { HOP_HEADER } from './hop.ts'

/** Maximum number of connections to one host */
const CONNECTIONS = 128
const CONNECT_MS = 2_000
/** Maximum bytes of a body that is held */
const MAX_BYTES = 65_536
/** Maximum total bytes of all held bodies */
const MAX_HELD = 64 * 1_048_576

/** Headers that concern a single connection; an upgrade needs the first two. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(['connection', 'upgrade', 'keep-alive', 'expect', HOP_HEADER])
const OF_THE_BODY: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding'])
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

export interface Forwarded {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Value of the hop header */
  readonly hop: string
  /** The whole body; absent: it is streamed */
  readonly body: Buffer | undefined
  /** Called if the host did not answer. `isUnasked`: it accepted no connection */
  failed(isUnasked: boolean): void
}

export interface ForwardingOptions {
  readonly timers: Pick<Timers, 'after'>
  /** Time limit for the first byte of a response, in ms */
  readonly requestMs: number
}

export class Forwarding {
  readonly #options: ForwardingOptions
  readonly #plain = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  readonly #secure = new SecureAgent({ keepAlive: true, maxSockets: CONNECTIONS })
  #held = 0

  constructor(options: ForwardingOptions) {
    this.#options = options
  }

  /** Whether the body of the request is so small that it can be held, to be sent again. */
  holds({ method, headers, routeOptions }: FastifyRequest): boolean {
    const { 'content-length': length = '0', upgrade } = headers
    if (upgrade !== undefined || headers['transfer-encoding'] !== undefined) return false
    const bytes = Number(length)
    if (isGetOrHead(method)) return bytes === 0
    return routeOptions.config.takesStream !== true && bytes <= MAX_BYTES && this.#held + bytes <= MAX_HELD
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
    raw.once('end', () => done(Buffer.concat(pieces)))
  }

  /** `owner`: address of the other host. Returns a function that cuts the request and its answer. */
  ask(owner: string, { request, reply, hop, body, failed }: Forwarded): () => void {
    const { raw, headers, method } = request
    const isUpgrade = headers.upgrade !== undefined
    const isSecure = owner.startsWith('https:')
    const asking = (isSecure ? askSecurely : askPlain)({
      ...urlToHttpOptions(new URL(owner)),
      path: raw.url ?? '/',
      method,
      headers: [...headersToSend(raw, isUpgrade), HOP_HEADER, hop],
      // the connection belongs to the client after an upgrade
      agent: isUpgrade ? false : isSecure ? this.#secure : this.#plain,
    })
    let upstream: Duplex | undefined
    let isConnected = false
    let isAnswered = false
    const cut = (): void => void (upstream ?? asking).destroy()
    asking.once('socket', (socket) => {
      isConnected = !socket.connecting
      if (isConnected) return
      const callOff = this.#options.timers.after(CONNECT_MS, cut)
      socket.once('close', callOff).once('connect', () => {
        isConnected = true
        callOff()
      })
    })
    // the owner enforces the time limit; this limit is for an owner that does not
    asking.setTimeout(this.#options.requestMs + CONNECT_MS, cut)
    asking.once('upgrade', (answer, other: Duplex, head) => {
      isAnswered = true
      upstream = other
      reply.hijack()
      joinSockets(raw.socket, answer, other, head)
    })
    asking.once('response', (answer) => {
      isAnswered = true
      asking.setTimeout(0)
      if (reply.sent || reply.raw.destroyed) return cut()
      sendAnswer(reply, answer)
    })
    asking.on('error', () => {
      if (!isAnswered) failed(!isConnected)
    })
    reply.raw.once('close', cut)
    if (isUpgrade || isGetOrHead(method)) asking.end()
    else if (body !== undefined) asking.end(body)
    else raw.pipe(asking)
    return cut
  }

  end(): void {
    this.#plain.destroy()
    this.#secure.destroy()
  }
}

/** Returns names and values in turn. */
function headersToSend({ rawHeaders, headers, method = '' }: FastifyRequest['raw'], isUpgrade: boolean): string[] {
  const named = (headers.connection ?? '').toLowerCase().split(/\s*,\s*/)
  // bodies of reads are ignored
  const isRead = isGetOrHead(method)
  const isSent = (name: string): boolean => {
    if (isUpgrade && (name === 'connection' || name === 'upgrade')) return true
    return !OF_THE_CONNECTION.has(name) && !named.includes(name) && !(isRead && OF_THE_BODY.has(name))
  }
  const kept: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (isSent(name.toLowerCase())) kept.push(name, rawHeaders[at + 1] ?? '')
  }
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  return hasBody || !WITH_BODY.has(method) ? kept : [...kept, 'content-length', '0']
}

function sendAnswer(reply: FastifyReply, answer: IncomingMessage): void {
  const headers = reply.getHeaders() as OutgoingHttpHeaders
  for (const [name, values = []] of Object.entries(answer.headersDistinct)) {
    const isOfConnection = OF_THE_CONNECTION.has(name) || name === 'transfer-encoding'
    if (!isOfConnection) headers[name] = values.length === 1 ? values[0] : values
  }
  // the rest of the body would otherwise be taken for the next request
  if (!reply.request.raw.complete) headers['connection'] = 'close'
  reply.hijack()
  const { raw } = reply
  raw.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers)
  // readers of streams would otherwise see the head only with the first message
  if (answer.headers['content-length'] === undefined) raw.flushHeaders()
  pipeline(answer, raw, () => undefined)
}

function joinSockets(socket: Duplex, answer: IncomingMessage, other: Duplex, head: Buffer): void {
  const { statusCode, statusMessage = '', rawHeaders } = answer
  const lines = [`HTTP/1.1 ${statusCode ?? 101} ${statusMessage}`]
  for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at] ?? ''}: ${rawHeaders[at + 1] ?? ''}`)
  socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  socket.write(head)
  // ignored, since `close` follows
  other.on('error', () => undefined)
  socket.on('error', () => undefined)
  other.once('close', () => socket.end())
  socket.once('close', () => other.destroy())
  other.pipe(socket)
  socket.pipe(other)
}

export function isGetOrHead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}
