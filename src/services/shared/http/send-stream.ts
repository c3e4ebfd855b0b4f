/** Streamed answers: server-sent events, and lines of JSON. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { EVENTS_MEDIA_TYPE, NDJSON_MEDIA_TYPE } from './media-types.ts'
import { TextBody } from './text-body.ts'
import { withFirst, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import type { ServerEvent } from './server-event.ts'

/** Comments of server-sent events. */
export const HERE = ': here\n\n'
export const STILL_HERE = ': still here\n\n'

/** Interval of heartbeats on a quiet stream, in ms */
const SIGN_OF_LIFE_MS = 15_000

/** Aborts when the client disconnects or the answer is complete. */
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
  /** Best made once for all readers */
  textOf(value: T): string
  readonly turns: Pick<Yielder, 'soon'>
  /** Sent at once; without it the head is sent at once */
  readonly first?: string
  readonly quiet: string
  /** Interval of heartbeats in ms; default 15 s */
  readonly quietMs?: number
}

/** Sends texts to very many readers at once. */
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
      // the type of JSON lines has no parameters
      .type(type === NDJSON_MEDIA_TYPE ? type : `${type}; charset=utf-8`)
      .header('cache-control', 'no-cache')
      .header('x-accel-buffering', 'no')
      .send(new TextBody({ ...options, values, first, quietMs, begun }))
  )
}

/** Makes the first line before the answer begins, so that an error still has its status. */
export async function sendLines(reply: FastifyReply, lines: AsyncIterable<unknown>): Promise<FastifyReply> {
  const iterator = lines[Symbol.asyncIterator]()
  const first = await iterator.next()
  return reply.type(NDJSON_MEDIA_TYPE).send(Readable.from(lineTexts(withFirst(first, iterator))))
}

async function* lineTexts(lines: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`
}

/** Wire format of an event. */
function eventText({ id, event, data }: ServerEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`
}
