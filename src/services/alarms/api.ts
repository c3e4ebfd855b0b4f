/** HTTP routes of the alarms service. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Yielder } from '#kernel'
import { machineTimers } from '#platform'
import {
  addRoutes,
  EVENTS_MEDIA_TYPE,
  HERE,
  linkTo,
  linkWith,
  NDJSON_MEDIA_TYPE,
  revisionCondition,
  routesOf,
  sendTexts,
  STILL_HERE,
  TIMELINE_MEDIA_TYPE,
  timelineTypeOf,
  untilClosed,
} from '#services/shared'
import {
  AlarmBatch,
  AlarmBatchStatusSchema,
  AlarmChange,
  AlarmListSchema,
  AlarmSchema,
  AlarmWhySchema,
  ErrorSchema,
  LISTING,
  NewAlarm,
  QueuedAlarmBatchSchema,
  SELECTED_EVENTS,
  TIMELINE,
} from './alarm-schema.ts'
import type { AlarmPage, AlarmQuery, AlarmsApi, AlarmsService } from './contract.ts'
import { LIFE_ROUTES } from './life-api.ts'
import { sendAlarm, withLink } from './send-alarm.ts'

const route = routesOf<AlarmsApi>()
const turns = new Yielder(machineTimers)

const ROUTES = [
  ...LIFE_ROUTES,
  route({
    method: 'POST',
    path: '/alarm/alarms',
    scope: 'operate',
    summary: 'Raise an alarm, or increase its count if it is open',
    body: NewAlarm,
    query: {
      history: Type.Optional(Type.Enum(['all', 'newest'], { description: 'extent of the returned history' })),
      onRepeat: Type.Optional(
        Type.Enum(['count', 'highest', 'replace'], {
          description: 'what a repeat changes: nothing, to a higher severity and its text, or severity and text',
        }),
      ),
    },
    answers: { 200: AlarmSchema },
    handler: async ({ api, body, query, reply }) => sendAlarm(reply, await api.raise(body, query)),
  }),
  route({
    method: 'GET',
    path: '/alarm/alarms',
    scope: 'read',
    summary: 'Alarms by their fields, or their states over time; other parameters are additional properties',
    query: { ...TIMELINE, ...LISTING },
    otherQuery: /./,
    produces: ['application/json', TIMELINE_MEDIA_TYPE],
    answers: { 200: AlarmListSchema },
    handler: async ({ api, request, reply }) => {
      const query = request.query as AlarmQuery
      void reply.header('vary', 'accept')
      const timeline = timelineTypeOf(request.headers.accept)
      if (timeline !== undefined) {
        const items = await api.timeline(query)
        return reply.type(`${timeline}; charset=utf-8`).send(JSON.stringify(items))
      }
      const page = await api.list(query)
      return reply.header('x-count', page.total).send(listBody(request, page))
    },
  }),
  route({
    method: 'GET',
    path: '/alarm/alarms/:id',
    scope: 'read',
    summary: 'One alarm with its history',
    answers: { 200: AlarmSchema },
    handler: async ({ api, params, reply }) => sendAlarm(reply, await api.get(params.id)),
  }),
  route({
    method: 'PUT',
    path: '/alarm/alarms/:id',
    scope: 'operate',
    summary: 'Acknowledge, clear, assign or snooze an alarm',
    body: AlarmChange,
    isConditional: true,
    answers: { 200: AlarmSchema },
    handler: async ({ api, params: { id }, body, request, reply }) => {
      const condition = await revisionCondition(request, () => api.get(id))
      return sendAlarm(reply, await api.update(id, body, condition))
    },
  }),
  route({
    method: 'DELETE',
    path: '/alarm/alarms/:id',
    scope: 'operate',
    summary: 'Delete an alarm',
    isConditional: true,
    answers: { 204: Type.Null() },
    handler: async ({ api, params: { id }, request, reply }) => {
      await api.remove(id, await revisionCondition(request, () => api.get(id)))
      return reply.code(204).send()
    },
  }),
  route({
    method: 'GET',
    path: '/alarm/alarms/:id/why',
    scope: 'read',
    summary: 'Why an alarm was raised: the task, its firing, and the data behind it',
    answers: { 200: AlarmWhySchema },
    handler: ({ api, params }) => api.why(params.id),
  }),
  route({
    method: 'POST',
    path: '/batch',
    scope: 'operate',
    summary: 'Delete or update all alarms that a query selects',
    body: AlarmBatch,
    answers: { 202: QueuedAlarmBatchSchema },
    handler: async ({ api, body, request, reply }) => {
      const entity = await api.batches.queue(body)
      const uri = linkTo(request, `/batch/${entity.id}`)
      return reply.code(202).header('location', uri).send({ statusCode: 202, uri, entity })
    },
  }),
  route({
    method: 'GET',
    path: '/batch/:id',
    scope: 'read',
    summary: 'Progress of an operation, and the result for each alarm',
    answers: { 200: AlarmBatchStatusSchema },
    handler: ({ api, params }) => api.batches.get(params.id),
  }),
  route({
    method: 'GET',
    path: '/alarm/events',
    scope: 'read',
    summary: 'Alarm events as they happen: JSON line by line, or server-sent events; the header Last-Event-ID resumes',
    query: { lastEventId: Type.Optional(Type.String()), ...SELECTED_EVENTS },
    produces: [NDJSON_MEDIA_TYPE, EVENTS_MEDIA_TYPE],
    handler: ({ api, query, request, reply }) => {
      const after = request.headers['last-event-id']?.toString() ?? query.lastEventId ?? ''
      const where = request.query as AlarmQuery
      const events = api.events({ signal: untilClosed(reply), where, ...(after !== '' && { after }) })
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
    },
  }),
]

export function alarmsRoutes(app: FastifyInstance, { service }: { service: AlarmsService }): Promise<void> {
  return addRoutes(app, service, { tag: 'alarms', errors: ErrorSchema, routes: ROUTES })
}

function listBody(request: FastifyRequest, { total, page, size, alarms }: AlarmPage): unknown {
  const link = (to: number): string => linkWith(request, { page: to > 1 ? to : undefined })
  return {
    self: link(page),
    ...(page * size < total && { next: link(page + 1) }),
    ...(page > 1 && { previous: link(page - 1) }),
    total,
    alarms: alarms.map((alarm) => withLink(request, alarm)),
  }
}
