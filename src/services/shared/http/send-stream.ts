/** Streams responses: server-sent events, and lines of JSON. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { EVENTS_MEDIA_TYPE, NDJSON_MEDIA_TYPE } from './media-types.ts'
import { TextBody } from './text-body.ts'
import { withFirst, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import type { ServerEvent } from './server-event.ts'

export const HERE = ': here\n\n'
export const STILL_HERE = ': still here\n\n'

/** ms between heartbeats on a quiet stream */
const SIGN_OF_LIFE_MS = 15_000

/** Returns a signal that aborts when the client disconnects or the response is complete. */
export function untilClosed(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  return controller.signal
}

const turns = new Yielder(machineTimers)

export function sendEvents(reply: FastifyReply, events: AsyncIterable<ServerEvent>): FastifyReply {
  return sendTexts(reply, events, { type: EVENTS_MEDIA_TYPE, turns, first: HERE, quiet: STILL_HERE, textOf: eventText })
}

export interface TextStreamOptions<T> {
  readonly type: string
  textOf(value: T): string
  readonly turns: Pick<Yielder, 'soon'>
  /** sent at once; if absent, only the response headers are sent at once */
  readonly first?: string
  readonly quiet: string
  /** ms between heartbeats; default 15 s */
  readonly quietMs?: number
}

/** Sends texts to a large number of readers at once. */
export function sendTexts<T>(
  reply: FastifyReply,
  values: AsyncIterable<T>,
  { type, first, quietMs = SIGN_OF_LIFE_MS, ...options }: TextStreamOptions<T>,
): FastifyReply {
  const begun = (): void => {
    if (first === undefined) reply.raw.flushHeaders()
  }
  return (
    reply
      // the media type of JSON lines takes no parameters
      .type(type === NDJSON_MEDIA_TYPE ? type : `${type}; charset=utf-8`)
      .header('cache-control', 'no-cache')
      .header('x-accel-buffering', 'no')
      .send(new TextBody({ ...options, values, first, quietMs, begun }))
  )
}

/** Produces the first line before the response begins, so that an error still sets the status. */
export async function sendLines(reply: FastifyReply, lines: AsyncIterable<unknown>): Promise<FastifyReply> {
  const iterator = lines[Symbol.asyncIterator]()
  const first = await iterator.next()
  return reply.type(NDJSON_MEDIA_TYPE).send(Readable.from(lineTexts(withFirst(first, iterator))))
}

async function* lineTexts(lines: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`
}

function eventText({ id, event, data }: ServerEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`
}
