/**
 * Streams live messages between partitions of a tenant: in process if both are on this host, otherwise as lines of JSON
 * over HTTP. A stream ends when the other host hands the partition over or is gone.
 */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { partitionName, type TenantLocation } from '#cluster'
import { AppError, type LogPosition } from '#kernel'
import type { FollowedPart, FollowedStream } from '#services/broker/contract'
import { jsonLines } from '#services/shared/client'
import { NDJSON_MEDIA_TYPE, untilClosed } from '#services/shared'
import type { Timers } from '../timers.ts'
import type { Hops } from './hop.ts'
import { addQuestionRoute, askHost, isUnasked } from './question-route.ts'

const PATH = '/cluster/streams'
/** How long a stream waits for the partition to have an owner, in ms */
const WAIT_MS = 10_000
const PAUSE_MS = 50

interface OpenedPartition {
  follow(asked: FollowedStream, signal: AbortSignal): AsyncIterable<FollowedPart>
}

export interface PartitionStreamsOptions {
  readonly place: (name: string) => TenantLocation
  readonly opened: (name: string) => Promise<OpenedPartition>
  readonly hops: Hops
  readonly timers: Timers
}

export class PartitionStreams {
  readonly #options: PartitionStreamsOptions
  readonly #followed = new Map<string, Set<AbortController>>()

  constructor(options: PartitionStreamsOptions) {
    this.#options = options
  }

  /** The first item reports that the stream is open. Ends when the partition moves or its host is gone. */
  async *follow(
    tenant: string,
    number: number,
    asked: FollowedStream,
    signal: AbortSignal,
  ): AsyncGenerator<FollowedPart> {
    const { place, opened, timers } = this.#options
    const name = partitionName(tenant, number)
    for (const since = timers.elapsed(); !signal.aborted;) {
      const at = place(name)
      if (at.kind === 'here') {
        const partition = await opened(name).catch(nowhere)
        if (partition !== undefined) {
          yield* partition.follow(asked, signal)
          return
        }
      } else if (at.kind === 'elsewhere') {
        const isThere = yield* this.#followAt(at, { partition: name, asked }, signal)
        if (isThere) return
      }
      if (timers.elapsed() - since > WAIT_MS) {
        throw new AppError('FENCED', `partition ${number} of tenant ${tenant} is without a host; retry in a second`)
      }
      await new Promise<void>((resolve) => timers.after(PAUSE_MS, resolve))
    }
  }

  addTo(app: FastifyInstance): Promise<void> {
    return addQuestionRoute(app, PATH, this.#options.hops, (asked, reply) => this.#answer(asked, reply))
  }

  looked(live: ReadonlySet<string>): void {
    for (const [url, ends] of this.#followed) {
      if (live.has(url)) continue
      this.#followed.delete(url)
      for (const end of ends) end.abort()
    }
  }

  async #answer(asked: unknown, reply: FastifyReply): Promise<FastifyReply> {
    const { partition: name, asked: stream } = readAsked(asked)
    const isHere = this.#options.place(name).kind === 'here'
    const partition = isHere ? await this.#options.opened(name).catch(nowhere) : undefined
    if (partition === undefined) return reply.code(204).send()
    const lines = linesOf(partition.follow(stream, untilClosed(reply)))
    return reply.type(NDJSON_MEDIA_TYPE).send(Readable.from(lines))
  }

  async *#followAt(
    { url, term }: Extract<TenantLocation, { kind: 'elsewhere' }>,
    asked: object,
    signal: AbortSignal,
  ): AsyncGenerator<FollowedPart, boolean> {
    const end = new AbortController()
    const ends = this.#followed.get(url) ?? new Set()
    this.#followed.set(url, ends.add(end))
    try {
      const over = AbortSignal.any([signal, end.signal])
      const answer = await askHost(PATH, asked, this.#options.hops, { url, term, signal: over })
      if (answer.status !== 200) {
        await answer.body?.cancel()
        if (answer.status === 204) return false
        throw new AppError('FENCED', `the host at ${url} returned ${answer.status}; retry in a second`)
      }
      yield* jsonLines(answer) as AsyncIterable<FollowedPart>
      return true
    } catch (error) {
      if (isUnasked(error)) return false
      throw error
    } finally {
      end.abort()
      ends.delete(end)
      if (ends.size === 0 && this.#followed.get(url) === ends) this.#followed.delete(url)
    }
  }
}

async function* linesOf(parts: AsyncIterable<FollowedPart>): AsyncGenerator<string> {
  for await (const part of parts) yield `${JSON.stringify(part)}\n`
}

function nowhere(error: unknown): undefined {
  if (error instanceof AppError && error.code === 'FENCED') return undefined
  throw error
}

function readAsked(asked: unknown): { readonly partition: string; readonly asked: FollowedStream } {
  const { partition, asked: stream } = (asked ?? {}) as { partition?: unknown; asked?: Partial<FollowedStream> }
  const { channel, resource, since } = stream ?? {}
  const isGood = typeof partition === 'string' && (channel === 'events' || channel === 'commands')
  if (!isGood || !['string', 'undefined'].includes(typeof resource) || !(since === undefined || isPlace(since)))
    throw new AppError('VALIDATION', 'the request for a stream has an invalid partition, channel, resource or since')
  const from = { ...(resource !== undefined && { resource }), ...(since !== undefined && { since }) }
  return { partition, asked: { channel, ...from } }
}

function isPlace({ position, count }: Partial<LogPosition>): boolean {
  return Number.isSafeInteger(position) && Number.isSafeInteger(count)
}
