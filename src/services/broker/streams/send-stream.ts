/** Sends streamed responses: server-sent events, or lines of JSON. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { EVENTS_MEDIA_TYPE, NDJSON_MEDIA_TYPE, type Parameters, untilClosed } from '#services/shared'
import type { StreamApi, Subscription } from '../contract.ts'
import type { Frames } from './frames.ts'
import type { OpenStreams } from './open-streams.ts'
import { StreamBody } from './stream-body.ts'

export interface Streaming {
  readonly frames: Frames
  readonly open: OpenStreams
}

export const RESUMING = {
  lastEventId: Type.Optional(Type.String({ minLength: 1 })),
  withIds: Type.Optional(Type.Boolean()),
}

type Accepted = 'event' | 'line' | 'json'

const FORMS: ReadonlyMap<string, Accepted> = new Map([
  [EVENTS_MEDIA_TYPE, 'event'],
  [NDJSON_MEDIA_TYPE, 'line'],
  ['application/json', 'json'],
  ['application/*', 'json'],
  ['*/*', 'json'],
])

/** Picks the first supported type; undefined if none is acceptable. Default: JSON. */
export function acceptedForm(accept: string | undefined): Accepted | undefined {
  if (accept === undefined || accept.trim() === '') return 'json'
  for (const part of accept.toLowerCase().split(',')) {
    const form = FORMS.get((part.split(';', 1)[0] ?? '').trim())
    if (form !== undefined) return form
  }
  return undefined
}

export function notAcceptable({ headers: { accept } }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const types = [...FORMS.keys()].filter((type) => !type.includes('*')).join(', ')
  const error = `Not acceptable. You requested [${accept?.slice(0, 200)}] but we only support [${types}]`
  return reply.code(406).send({ error })
}

interface Stream {
  readonly query: Parameters<typeof RESUMING>
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly form: 'event' | 'line'
  readonly streaming: Streaming
  subscribe(options: Subscription): ReturnType<StreamApi['subscribe']>
}

export async function sendStream({ query, request, reply, form, streaming, subscribe }: Stream): Promise<FastifyReply> {
  const { frames, open } = streaming
  // browsers cannot set the `Last-Event-ID` header on the first request
  const id = request.headers['last-event-id']?.toString() ?? query.lastEventId
  const { seen, isForeign } = frames.cameBack(id)
  const reader = subscribe({ signal: untilClosed(reply), ...seen })
  await reader.ready
  const begun = (): void => reply.raw.flushHeaders()
  const marked = query.withIds === true && form === 'line' ? 'markedLine' : form
  const body = new StreamBody({ reader, form: marked, frames, open, isForeign, begun })
  reply.raw.once('close', () => body.destroy())
  return reply
    .type(form === 'event' ? `${EVENTS_MEDIA_TYPE}; charset=utf-8` : NDJSON_MEDIA_TYPE)
    .header('cache-control', 'no-cache')
    .header('x-accel-buffering', 'no')
    .send(body)
}
