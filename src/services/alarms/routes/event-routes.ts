/** The stream of alarm events. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { EVENTS_MEDIA_TYPE, HERE, NDJSON_MEDIA_TYPE, sendTexts, STILL_HERE, untilClosed } from '#services/shared'
import type { AlarmsService } from '../contract.ts'
import { Yielder } from '#kernel'
import { machineTimers } from '#platform'
import { described, handle } from './route-parts.ts'

export function eventRoutes(app: FastifyInstance, service: AlarmsService): void {
  const turns = new Yielder(machineTimers)
  app.get(
    '/alarm/events',
    described({
      summary:
        'Alarm events as they happen: JSON line by line, or server-sent events; the header Last-Event-ID goes on',
      query: { lastEventId: Type.Optional(Type.String()) },
      produces: [NDJSON_MEDIA_TYPE, EVENTS_MEDIA_TYPE],
    }),
    handle(service, ({ api, query, request, reply }) => {
      const header = request.headers['last-event-id']
      const last = typeof header === 'string' ? header : query['lastEventId']
      const events = api.events({
        signal: untilClosed(reply),
        ...(typeof last === 'string' && last !== '' && { after: last }),
      })
      void reply.header('vary', 'accept')
      if (request.headers.accept?.includes(EVENTS_MEDIA_TYPE) === true) {
        const options = { type: EVENTS_MEDIA_TYPE, turns, first: HERE, quiet: STILL_HERE }
        return sendTexts(reply, events, { ...options, textOf: ({ id, text }) => `id: ${id}\ndata: ${text}\n\n` })
      }
      return sendTexts(reply, events, {
        type: NDJSON_MEDIA_TYPE,
        turns,
        quiet: '\n',
        textOf: ({ text }) => `${text}\n`,
      })
    }),
  )
}
