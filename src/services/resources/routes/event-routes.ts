/** The stream of what happens to resources and types. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { type Published, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import {
  EVENTS_MEDIA_TYPE,
  NDJSON_MEDIA_TYPE,
  QueryReader,
  sendEvents,
  sendTexts,
  type ServerEvent,
  untilClosed,
} from '#services/shared'
import type { MetadataEvent, ResourcesService } from '../contract.ts'
import { accepts } from './resource-routes.ts'
import { described } from './route-parts.ts'

const OBJECT_TYPES = ['resource', 'resourcetype'] as const

export function eventRoutes(app: FastifyInstance, service: ResourcesService): void {
  const turns = new Yielder(machineTimers)
  app.get(
    '/api/events',
    {
      ...described({
        summary: 'What happens to resources and types, line by line or as server-sent events',
        query: { objectType: Type.Optional(Type.Enum(OBJECT_TYPES)) },
        produces: [NDJSON_MEDIA_TYPE, EVENTS_MEDIA_TYPE],
      }),
    },
    async (request, reply) => {
      const query = new QueryReader(request.query)
      const objectType = query.oneOf('objectType', OBJECT_TYPES)
      query.done()
      const given = request.headers['last-event-id']
      const last = Number(given)
      const isFrom = Number.isSafeInteger(last) && last > 0
      const reader = service.changes(request.tenant, {
        signal: untilClosed(reply),
        overflow: 'end',
        ...(isFrom && { after: last }),
      })
      const events = only(reader, objectType)
      if (accepts(request, EVENTS_MEDIA_TYPE))
        return sendEvents(reply, serverEvents(events, given !== undefined && (!isFrom || reader.missed)))
      return sendTexts(reply, events, { type: NDJSON_MEDIA_TYPE, turns, quiet: '\n', textOf: lineOf })
    },
  )
}

async function* only(
  reader: AsyncIterable<Published<MetadataEvent>>,
  objectType: string | undefined,
): AsyncGenerator<Published<MetadataEvent>> {
  for await (const event of reader) if (objectType === undefined || event.value.objectType === objectType) yield event
}

function lineOf({ value }: Published<MetadataEvent>): string {
  return `${JSON.stringify(value)}\n`
}

/**
 * Each by its name, for listeners of one kind, and then without, for `onmessage`. The number comes with the last of both:
 * a reader that lost its connection in between gets both again.
 */
async function* serverEvents(
  events: AsyncIterable<Published<MetadataEvent>>,
  hasGap: boolean,
): AsyncGenerator<ServerEvent> {
  if (hasGap) yield { event: 'gap', data: {} }
  for await (const { number, value } of events) {
    yield { event: value.type, data: value }
    yield { id: String(number), data: value }
  }
}
