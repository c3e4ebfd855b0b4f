/** Answers that go on: server-sent events, and JSON line by line. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { EVENTS_MEDIA_TYPE, NDJSON_MEDIA_TYPE } from './media-types.ts'
import { TextBody } from './text-body.ts'
import { Yielder } from '#kernel'
import { machineTimers } from '#platform'
import type { ServerEvent } from './server-event.ts'

/** Comments of server-sent events. */
export const HERE = ': here\n\n'
export const STILL_HERE = ': still here\n\n'

/** ms between two signs of life on a quiet stream */
const SIGN_OF_LIFE_MS = 15_000

/** Aborts when the reader is gone or the answer is whole. */
export function untilClosed(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  return controller.signal
}

const turns = new Yielder(machineTimers)

export function sendEvents(reply: FastifyReply, events: AsyncIterable<ServerEvent>): FastifyReply {
  // the first text lets the reader know that it is connected
  return sendTexts(reply, events, { type: EVENTS_MEDIA_TYPE, turns, first: HERE, quiet: STILL_HERE, textOf: eventText })
}

export interface TextStreamOptions<T> {
  readonly type: string
  /** made once for all readers is best */
  textOf(value: T): string
  /** one for all streams of a route */
  readonly turns: Pick<Yielder, 'soon'>
  /** sent at once; without it the reader sees the head of the answer at once */
  readonly first?: string
  /** sent when nothing came for a while */
  readonly quiet: string
  /** ms of that; default 15 s */
  readonly quietMs?: number
}

/** Texts for very many readers at once. */
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

/** The first line is made before the answer begins, so that a refusal still has its status. */
export async function sendLines(reply: FastifyReply, lines: AsyncIterable<unknown>): Promise<FastifyReply> {
  const iterator = lines[Symbol.asyncIterator]()
  const first = await iterator.next()
  return reply.type(NDJSON_MEDIA_TYPE).send(Readable.from(lineTexts(first, iterator)))
}

async function* lineTexts(first: IteratorResult<unknown>, iterator: AsyncIterator<unknown>): AsyncGenerator<string> {
  try {
    for (let next = first; next.done !== true; next = await iterator.next()) yield `${JSON.stringify(next.value)}\n`
  } finally {
    await iterator.return?.()
  }
}

/** An event as it goes over the wire. */
function eventText({ id, event, data }: ServerEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`
}
