/**
 * Serves the WebSockets of the broker.
 *
 * SOCKET-1 after an invalid frame, the socket sends `{ error, details }` and stays open
 * SOCKET-2 frames of one socket are processed in order
 * SOCKET-3 a slow reader loses the oldest waiting messages; a reader that does not read for a minute is closed with
 *   1013 and a reason
 * SOCKET-4 a socket with too many posts in flight is paused
 */
import type { FastifyRequest } from 'fastify'
import type { RawData, WebSocket } from 'ws'
import { AppError, refuse } from '#kernel'
import { callerOf, parameterReader, parseMessages, queryFaults } from '#services/shared'
import type { BrokerApi, BrokerService, Channel } from '../contract.ts'
import { brokerErrorBody, type BrokerErrorBody } from '../error-body.ts'
import { POSTING } from '../posting/message-schema.ts'
import { gapIn } from './frames.ts'
import type { OpenStream, OpenStreams, Pulse } from './open-streams.ts'
import { RESUMING, type Streaming } from './send-stream.ts'

const readResuming = parameterReader(RESUMING)
const readPosting = parameterReader(POSTING)

export type SocketHandler = (socket: WebSocket, request: FastifyRequest) => void

const MAX_IN_FLIGHT = 256
/** buffered bytes beyond which a socket's reader counts as slow */
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

  /** Sends messages to the client, and rejects incoming frames. */
  subscribe(channel: Channel): SocketHandler {
    return (socket, request) => {
      const { id = '' } = request.params as Readonly<Record<string, string>>
      const gone = new AbortController()
      socket.once('close', () => gone.abort())
      socket.on('message', () =>
        answer(socket, { error: 'This socket only sends messages to the client; open .../publish to send messages' }),
      )
      const joined = this.#read(socket, request, readResuming)
      if (joined === undefined) return
      const form = joined.withIds === true ? 'marked' : 'text'
      const { frames, open: streams } = this.#streaming
      const { seen, isForeign } = frames.cameBack(joined.lastEventId)
      const reader = this.#api(request).streams.subscribe(id, channel, { signal: gone.signal, ...seen })
      const open = new SubscriberSocket(socket, streams, () => frames.beat(form, reader.passed))
      const report = async (): Promise<void> => {
        await reader.ready
        const gap = reader.missed || isForeign ? gapIn(form) : undefined
        if (gap !== undefined) await open.send(Buffer.from(gap))
        for await (const message of reader) {
          await new Promise<void>((resolve) => streams.soon(resolve))
          if (socket.readyState !== socket.OPEN) break
          await open.send(frames.of(message, form))
        }
      }
      report().then(
        // the feed ends when the host closes
        () => socket.close(1001, 'the host is closing'),
        // the log could not be read; a client that reconnects with the same id resumes from there
        () => socket.close(TRY_LATER, 'messages since then cannot be read at the moment'),
      )
    }
  }

  publish(channel: Channel): SocketHandler {
    return (socket, request) => {
      const { id } = request.params as Readonly<Record<string, string | undefined>>
      const { posting } = this.#api(request)
      const options = this.#read(socket, request, (query) => {
        const { unknown, repeated } = queryFaults(query, { named: POSTING })
        const faults = [...unknown, ...repeated]
        if (faults.length > 0) throw refuse('the query', faults)
        return readPosting(query)
      })
      if (options === undefined) return
      if (channel === 'events') this.#take(socket, request, (body) => posting.events(id, body, options))
      else this.#take(socket, request, (body) => posting.command(id ?? '', body))
    }
  }

  #api(request: FastifyRequest): BrokerApi {
    return this.#service.as(callerOf(request))
  }

  #read<T>(socket: WebSocket, request: FastifyRequest, read: (query: unknown) => T): T | undefined {
    const { apiKey: _key, apiSecret: _secret, ...query } = request.query as Readonly<Record<string, unknown>>
    try {
      return read(query)
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
        await post(parseMessages(textOf(data)))
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
}

class SubscriberSocket implements OpenStream {
  readonly #socket: WebSocket
  readonly #signOfLife: () => string
  readonly #pulse: Pulse

  constructor(socket: WebSocket, streams: OpenStreams, signOfLife: () => string) {
    this.#socket = socket
    this.#signOfLife = signOfLife
    this.#pulse = streams.add(this)
    socket.once('close', () => streams.delete(this))
  }

  beat(): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(this.#signOfLife())
  }

  giveUp(): void {
    this.#socket.close(TRY_LATER, 'too slow: nothing was read for a minute')
    this.#socket.terminate()
  }

  /** Sends a message. Resolves when the next may be sent; returns undefined if that is at once. */
  send(text: Buffer): Promise<void> | undefined {
    this.#pulse.isActive = true
    if (this.#socket.bufferedAmount < MAX_BUFFERED) {
      this.#socket.send(text, { binary: false })
      return undefined
    }
    this.#pulse.isStuck = true
    return new Promise((resolve) => {
      this.#socket.send(text, { binary: false }, () => {
        this.#pulse.isStuck = false
        resolve()
      })
    })
  }
}

function answer(socket: WebSocket, body: BrokerErrorBody): void {
  // do not send more errors to a client that does not read
  if (socket.readyState === socket.OPEN && socket.bufferedAmount < MAX_BUFFERED) socket.send(JSON.stringify(body))
}

function bodyOf(error: unknown, request: FastifyRequest): BrokerErrorBody {
  if (!(error instanceof AppError) || error.status === 500) {
    request.log.error({ err: error }, 'a frame failed')
    return { error: `An internal error occurred; see the log under id ${request.id}` }
  }
  if (error.code === 'NOT_JSON') return { error: 'Json parse error', details: [`/ <- ${error.message}`] }
  return brokerErrorBody({ error: error.message, issues: error.issues })
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8')
}
