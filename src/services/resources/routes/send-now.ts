import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Published } from '../../../kernel/feed.ts'
import { NDJSON_MEDIA_TYPE } from '../../../web/media-types.ts'

/** Line by line; the answer begins before the first line is there. */
export function sendNow(reply: FastifyReply, events: AsyncIterable<Published<unknown>>): FastifyReply {
  return reply.type(`${NDJSON_MEDIA_TYPE}; charset=utf-8`).send(Readable.from(lines(events)))
}

async function* lines(events: AsyncIterable<Published<unknown>>): AsyncGenerator<string> {
  // readers skip empty lines; this one lets them know that they are connected
  yield '\n'
  for await (const { value } of events) yield `${JSON.stringify(value)}\n`
}
