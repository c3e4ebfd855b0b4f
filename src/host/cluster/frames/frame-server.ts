/**
 * Serves framed requests from other hosts with the server's own handler, as if they had arrived over HTTP.
 *
 * FRAMES-1 only hosts that know the secret, and only batches unchanged on their way, are accepted
 * FRAMES-2 answers are sent as soon as they are ready: a slow request does not delay others
 * FRAMES-3 open requests and unread bytes of a connection are bounded: above the limit the connection ends, or is no
 *   longer read
 * FRAMES-4 a request that arrives while the host stops is reported as untaken: it had no effect
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '#kernel'
import { machineTimers } from '#platform'
import type { Hops } from '../hop.ts'
import type { ReadFrame } from './frame-batch.ts'
import { frameKeys, type FrameKeys, isNonce, newNonce } from './frame-keys.ts'
import {
  ANSWER,
  ASK,
  type AskHead,
  BEGIN,
  BROKEN,
  DROP,
  END,
  FRAMES_PATH,
  LEAVING,
  MAX_HEAD,
  MAX_OPEN,
  MORE,
  NONCE_HEADER,
  PIECE,
  PROTOCOL,
  UNTAKEN,
} from './frame-kinds.ts'
import { FrameLink } from './frame-link.ts'
import { type AnswerEvents, FramedResponse } from './framed-response.ts'

const MAX_LINKS = 256
/** Time limit in ms for receiving the first batch, and for disconnecting after LEAVING */
const SOON_MS = 2_000

type Handler = FastifyInstance['routing']

export class FrameServer {
  readonly #hops: Hops
  readonly #links = new Set<ServedLink>()
  #isLeaving = false

  constructor(hops: Hops) {
    this.#hops = hops
  }

  addTo(app: FastifyInstance): void {
    app.addHook('preClose', async () => {
      this.#isLeaving = true
      for (const link of this.#links) link.leave()
    })
    // requests are authenticated by their signature and have no deadline
    const config = { scope: 'public' as const, takesStream: true }
    app.get(FRAMES_PATH, {
      config,
      schema: { hide: true },
      exposeHeadRoute: false,
      // `onRequest` runs before the route's handler, which a WebSocket package may have wrapped
      onRequest: (request, reply, done) => {
        const refusal = this.#open(app, request, reply)
        if (refusal !== undefined) done(refusal)
      },
      handler: async () => undefined,
    })
  }

  #open(app: FastifyInstance, { raw, query, headers }: FastifyRequest, reply: FastifyReply): AppError | undefined {
    const { nonce } = query as { readonly nonce?: unknown }
    if (this.#hops.of(raw) === undefined || !isNonce(nonce))
      return new AppError('FORBIDDEN', 'only hosts of the cluster may use this route')
    // without an `upgrade` listener Node would parse requests from the socket
    if (headers.upgrade !== PROTOCOL || app.server.listenerCount('upgrade') === 0)
      return new AppError('NOT_FOUND', `frames require an upgrade to ${PROTOCOL}`)
    if (this.#isLeaving || this.#links.size >= MAX_LINKS)
      return new AppError('FENCED', 'this host has the maximum of connections; forward without frames')
    const { socket } = raw
    const own = newNonce()
    reply.hijack()
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${PROTOCOL}\r\n${NONCE_HEADER}: ${own}\r\n\r\n`,
    )
    const link = new ServedLink(socket, frameKeys(this.#hops, nonce, own), this.#hops, app.routing, () =>
      this.#links.delete(link),
    )
    this.#links.add(link)
    return undefined
  }
}

class ServedLink {
  readonly #hops: Hops
  readonly #handle: Handler
  readonly #socket: Socket
  readonly #link: FrameLink
  readonly #open = new Map<number, { readonly request: FramedRequest; readonly response: FramedResponse }>()
  #isLeaving = false
  readonly #callOff: () => void

  constructor(socket: Socket, { asking, owner }: FrameKeys, hops: Hops, handle: Handler, gone: () => void) {
    this.#hops = hops
    this.#handle = handle
    this.#socket = socket
    socket.setNoDelay(true)
    this.#link = new FrameLink(socket, owner, asking, {
      frame: (frame) => this.#take(frame),
      closed: () => {
        this.#callOff()
        gone()
        for (const { request, response } of this.#open.values()) end(request, response)
      },
    })
    const silent = new Error('a host opened a connection and sent nothing')
    this.#callOff = machineTimers.later(SOON_MS, () => this.#link.isProven || this.#link.cut(silent))
  }

  leave(): void {
    this.#isLeaving = true
    this.#link.send(LEAVING, 0)
    this.#goSoon()
  }

  #goSoon(): void {
    if (!this.#isLeaving || this.#open.size > 0) return
    const late = new Error('a host did not disconnect in time')
    machineTimers.later(SOON_MS, () => this.#open.size === 0 && this.#link.cut(late))
  }

  #take({ kind, number, head, body }: ReadFrame): void {
    if (kind === ASK) return this.#ask(number, head, body)
    // ignore late frames of a request that was already answered
    const open = this.#open.get(number)
    if (kind === DROP) {
      if (open !== undefined) end(open.request, open.response)
    } else if (kind === MORE) open?.response.more(Number(head))
    else throw new Error(`a frame of kind ${kind} is invalid from a forwarding host`)
  }

  #ask(number: number, head: string, body: Buffer): void {
    if (this.#isLeaving) return this.#link.send(UNTAKEN, number)
    if (head.length > MAX_HEAD) throw new Error(`the head of a frame has more than ${MAX_HEAD} characters`)
    if (this.#open.size >= MAX_OPEN) throw new Error(`more than ${MAX_OPEN} requests are open on one connection`)
    if (this.#open.has(number)) throw new Error(`request ${number} is already open`)
    const [method, url, headers, count, term, slot, address] = JSON.parse(head) as AskHead
    const response = new FramedResponse(method, this.#eventsOf(number))
    const request = new FramedRequest(method, url, headers as IncomingHttpHeaders, body, this.#socket, () =>
      end(request, response),
    )
    this.#open.set(number, { request, response })
    this.#hops.mark(request.asMessage, { count, term, slot, address })
    this.#handle(request.asMessage, response.asResponse)
  }

  #eventsOf(number: number): AnswerEvents {
    const link = this.#link
    return {
      whole: (status, headers, body) => {
        link.send(ANSWER, number, JSON.stringify([status, headers]), body)
        this.#answered(number)
      },
      begun: (status, headers) => link.send(BEGIN, number, JSON.stringify([status, headers])),
      piece: (bytes) => link.send(PIECE, number, '', bytes),
      ended: () => {
        link.send(END, number)
        this.#answered(number)
      },
      broken: () => {
        link.send(BROKEN, number)
        this.#answered(number)
      },
    }
  }

  #answered(number: number): void {
    this.#open.delete(number)
    this.#goSoon()
    // slow down reading while the other host reads slowly
    if (!this.#link.isFull || this.#socket.isPaused()) return
    this.#socket.pause()
    this.#socket.once('drain', () => this.#socket.resume())
  }
}

function end(request: FramedRequest, response: FramedResponse): void {
  request.destroy()
  response.destroy()
}

class FramedSocket {
  readonly remoteAddress: string | undefined
  readonly remotePort: number | undefined
  readonly localAddress: string | undefined
  readonly localPort: number | undefined
  readonly encrypted: boolean
  readonly #end: () => void

  constructor(socket: Partial<Socket> & { readonly encrypted?: boolean }, end: () => void) {
    this.remoteAddress = socket.remoteAddress
    this.remotePort = socket.remotePort
    this.localAddress = socket.localAddress
    this.localPort = socket.localPort
    this.encrypted = socket.encrypted === true
    this.#end = end
  }

  destroy(): void {
    this.#end()
  }

  destroySoon(): void {}
}

/** Represents a framed request for the server's own handler: the parts of `IncomingMessage` that Fastify uses. */
class FramedRequest extends Readable {
  readonly method: string
  url: string
  readonly headers: IncomingHttpHeaders
  readonly socket: FramedSocket
  readonly httpVersion = '1.1'
  readonly httpVersionMajor = 1
  readonly httpVersionMinor = 1
  readonly complete = true
  aborted = false
  #body: Buffer | null

  /** `end`: called to end the request and its answer. */
  constructor(method: string, url: string, headers: IncomingHttpHeaders, body: Buffer, from: object, end: () => void) {
    super()
    this.method = method
    this.url = url
    this.headers = headers
    this.socket = new FramedSocket(from, end)
    this.#body = body.length === 0 ? null : body
  }

  get rawHeaders(): string[] {
    return Object.entries(this.headers).flatMap(([name, value]) => [value ?? ''].flat().flatMap((one) => [name, one]))
  }

  get asMessage(): IncomingMessage {
    return this as unknown as IncomingMessage
  }

  override _read(): void {
    if (this.#body !== null) this.push(this.#body)
    this.#body = null
    this.push(null)
  }
}
