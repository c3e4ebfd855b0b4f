/**
 * WebSockets of the broker.
 *
 * SOCKET-1 a frame that cannot be taken is answered with `{ error, details }`, and the socket stays open
 * SOCKET-2 frames of one socket are taken in their order
 * SOCKET-3 a reader that is slow loses the oldest of what waits for it; one that takes nothing for a minute is closed
 *   with 1013 and a reason
 * SOCKET-4 a socket that posts faster than posts become durable is not read on until they are
 */
import type { FastifyRequest } from 'fastify'
import type { RawData, WebSocket } from 'ws'
import { AppError } from '../../../../kernel/errors.ts'
import { refuse } from '../../../../kernel/issues.ts'
import { queryFaults } from '../../../../web/check-query.ts'
import { parseBody } from '../../../../web/parse-body.ts'
import { QueryReader } from '../../../../web/query-reader.ts'
import type { BrokerApi, BrokerService, Channel, PostOptions } from '../../contract.ts'
import { brokerErrorBody, type BrokerErrorBody } from '../../error-body.ts'
import { POST_PARAMETERS, readPostQuery } from '../post-query.ts'
import type { OpenStream } from './open-streams.ts'
import type { Streaming } from './streaming.ts'

export type SocketHandler = (socket: WebSocket, request: FastifyRequest) => void

/** posts of one socket that may wait to be durable */
const MAX_IN_FLIGHT = 256
/** bytes that may wait in a socket before its reader counts as slow */
const MAX_BUFFERED = 262_144
const POLICY = 1008
const TRY_LATER = 1013

export class Sockets {
  readonly #service: BrokerService
  readonly #streaming: Streaming

  constructor(service: BrokerService, streaming: Streaming) {
    this.#service = service
    this.#streaming = streaming
  }

  /** Server to client: what comes in is refused. */
  subscribe(channel: Channel): SocketHandler {
    return (socket, request) => {
      const { id = '' } = request.params as Readonly<Record<string, string>>
      const gone = new AbortController()
      socket.once('close', () => gone.abort())
      socket.on('message', () => answer(socket, { error: 'This socket only tells; open .../publish to send messages' }))
      const reader = this.#api(request).streams.subscribe(id, channel, { signal: gone.signal })
      const open = new SubscriberSocket(socket)
      this.#streaming.open.add(open)
      socket.once('close', () => this.#streaming.open.delete(open))
      void this.#pump(open, socket, reader)
    }
  }

  /** Client to server; each frame is the body of a post. */
  publish(channel: Channel): SocketHandler {
    return (socket, request) => {
      const { id } = request.params as Readonly<Record<string, string | undefined>>
      const { posting } = this.#api(request)
      const options = this.#options(socket, request)
      if (options === undefined) return
      if (channel === 'events') this.#take(socket, request, (body) => posting.events(id, body, options))
      else this.#take(socket, request, (body) => posting.command(id ?? '', body))
    }
  }

  #api({ tenant, user }: FastifyRequest): BrokerApi {
    return this.#service.as({ tenant, user })
  }

  #options(socket: WebSocket, request: FastifyRequest): PostOptions | undefined {
    const { apiKey: _key, apiSecret: _secret, ...query } = request.query as Readonly<Record<string, unknown>>
    try {
      const { unknown, repeated } = queryFaults(query, { named: POST_PARAMETERS })
      const faults = [...unknown, ...repeated]
      if (faults.length > 0) throw refuse('the query', faults)
      return readPostQuery(new QueryReader(query))
    } catch (error) {
      answer(socket, bodyOf(error, request))
      socket.close(POLICY, 'the query cannot be used')
      return undefined
    }
  }

  #take(socket: WebSocket, request: FastifyRequest, post: (body: unknown) => Promise<unknown>): void {
    let inFlight = 0
    const one = async (data: RawData, isBinary: boolean): Promise<void> => {
      try {
        if (isBinary) throw new AppError('VALIDATION', 'Frames are text: send the message as JSON in a text frame')
        await post(parseBody(textOf(data)))
      } catch (error) {
        answer(socket, bodyOf(error, request))
      }
      if (--inFlight < MAX_IN_FLIGHT / 2 && socket.isPaused) socket.resume()
    }
    socket.on('message', (data, isBinary) => {
      if (++inFlight >= MAX_IN_FLIGHT) socket.pause()
      void one(data, isBinary)
    })
  }

  async #pump(open: SubscriberSocket, socket: WebSocket, reader: ReturnType<BrokerApi['streams']['subscribe']>) {
    const { frames, open: streams } = this.#streaming
    for await (const message of reader) {
      await new Promise<void>((resolve) => streams.soon(resolve))
      if (socket.readyState !== socket.OPEN) break
      await open.send(frames.of(message, 'text'))
    }
    // the feed ends when the host closes
    socket.close(1001, 'the host is closing')
  }
}

class SubscriberSocket implements OpenStream {
  readonly #socket: WebSocket
  #isActive = false
  #isStuck = false

  constructor(socket: WebSocket) {
    this.#socket = socket
  }

  get isStuck(): boolean {
    return this.#isStuck
  }

  takeActive(): boolean {
    const active = this.#isActive
    this.#isActive = false
    return active
  }

  beat(): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send('{}')
  }

  giveUp(): void {
    this.#socket.close(TRY_LATER, 'too slow: nothing was read for a minute')
    this.#socket.terminate()
  }

  /** Resolves when the next one may be sent: at once, or when a slow reader has read. */
  send(text: Buffer): Promise<void> | undefined {
    this.#isActive = true
    if (this.#socket.bufferedAmount < MAX_BUFFERED) {
      this.#socket.send(text, { binary: false })
      return undefined
    }
    this.#isStuck = true
    return new Promise((resolve) => {
      this.#socket.send(text, { binary: false }, () => {
        this.#isStuck = false
        resolve()
      })
    })
  }
}

function answer(socket: WebSocket, body: BrokerErrorBody): void {
  // who does not read what was wrong is not told for ever
  if (socket.readyState === socket.OPEN && socket.bufferedAmount < MAX_BUFFERED) socket.send(JSON.stringify(body))
}

function bodyOf(error: unknown, request: FastifyRequest): BrokerErrorBody {
  if (!(error instanceof AppError) || error.status === 500) {
    request.log.error({ err: error }, 'a frame failed')
    return { error: `Something went wrong inside; the log has it under id ${request.id}` }
  }
  if (error.code === 'NOT_JSON') return { error: 'Json parse error', details: [`/ <- ${error.message}`] }
  return brokerErrorBody({ error: error.message, issues: error.issues })
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8')
}
