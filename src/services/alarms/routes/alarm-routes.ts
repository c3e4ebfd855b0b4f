/** Routes of single alarms, and lists of them. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { AlarmChangeSchema, AlarmListSchema, AlarmSchema, AlarmWhySchema, NewAlarmSchema } from '../alarm-schema.ts'
import type { AlarmPage, AlarmsService } from '../contract.ts'
import { QueryReader, revisionCondition, TIMELINE_MEDIA_TYPE, timelineTypeOf, withTag } from '#services/shared'
import { described, handle } from './route-parts.ts'

/** Asks the listing for what alarms were like after each record of their histories. */

const Texts = Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())]))
const Time = Type.Optional(Type.Integer({ description: 'epoch ms' }))
const Whole = Type.Optional(Type.Integer({ minimum: 1 }))
const one = { params: ['id'], answers: { 200: AlarmSchema } } as const

const FILTERS = {
  type: Texts,
  status: Texts,
  severity: Texts,
  source: Texts,
  assignee: Type.Optional(Type.String()),
  dateFrom: Time,
  dateTo: Time,
  creationTimeFrom: Time,
  creationTimeTo: Time,
  lastUpdatedFrom: Time,
  lastUpdatedTo: Time,
  lastTriggeredFrom: Time,
  lastTriggeredTo: Time,
  from: Time,
  to: Time,
  page: Whole,
  size: Whole,
  sort: Type.Optional(Type.Enum(['timestamp', 'lastUpdateTime', 'lastTriggeredTime', 'creationTime'])),
  order: Type.Optional(Type.Enum(['descending', 'ascending'])),
  history: Type.Optional(Type.Boolean({ description: 'false leaves histories out' })),
}

export function alarmRoutes(app: FastifyInstance, service: AlarmsService): void {
  app.post(
    '/alarm/alarms',
    described({
      summary: 'Raise an alarm, or count it again when it is open',
      body: NewAlarmSchema,
      query: { history: Type.Optional(Type.Enum(['all', 'newest'], { description: 'how much of it is given back' })) },
      answers: { 200: AlarmSchema },
    }),
    handle(service, async ({ api, query, request, reply }) => {
      const reader = new QueryReader(query)
      const history = reader.oneOf('history', ['all', 'newest']) ?? 'all'
      reader.done()
      return withTag(reply, await api.raise(request.body, { history }))
    }),
  )
  app.get(
    '/alarm/alarms',
    described({
      summary: 'Alarms by what they say, or what they were like over time; other parameters are additional properties',
      query: FILTERS,
      otherQuery: /./,
      produces: ['application/json', TIMELINE_MEDIA_TYPE],
      answers: { 200: AlarmListSchema },
    }),
    handle(service, async ({ api, query, request, reply }) => {
      void reply.header('vary', 'accept')
      const timeline = timelineTypeOf(request.headers.accept)
      if (timeline !== undefined) {
        const items = await api.timeline(query)
        return reply.type(`${timeline}; charset=utf-8`).send(JSON.stringify(items))
      }
      const page = await api.list(query)
      return reply.header('x-count', page.total).send(listBody(request.url, page))
    }),
  )
  app.get(
    '/alarm/alarms/:id',
    described({ summary: 'One alarm with its history', ...one }),
    handle(service, async ({ api, id, reply }) => withTag(reply, await api.get(id))),
  )
  app.put(
    '/alarm/alarms/:id',
    described({
      summary: 'Acknowledge, clear, assign or snooze an alarm',
      ...one,
      body: AlarmChangeSchema,
      isConditional: true,
    }),
    handle(service, async ({ api, id, request, reply }) => {
      const condition = await revisionCondition(request, () => api.get(id))
      return withTag(reply, await api.update(id, request.body, condition))
    }),
  )
  app.delete(
    '/alarm/alarms/:id',
    described({ summary: 'Delete an alarm', params: ['id'], isConditional: true, answers: { 204: Type.Null() } }),
    handle(service, async ({ api, id, request, reply }) => {
      await api.remove(id, await revisionCondition(request, () => api.get(id)))
      return reply.code(204).send()
    }),
  )
  app.get(
    '/alarm/alarms/:id/why',
    described({
      summary: 'What led to an alarm: the task, its firing, and the data behind it',
      params: ['id'],
      answers: { 200: AlarmWhySchema },
    }),
    handle(service, ({ api, id }) => api.why(id)),
  )
}

/** A page with the ways to its neighbours. */
function listBody(url: string, { total, page, size, alarms }: AlarmPage): unknown {
  return {
    self: pageUrl(url, page),
    ...(page * size < total && { next: pageUrl(url, page + 1) }),
    ...(page > 1 && { previous: pageUrl(url, page - 1) }),
    total,
    alarms,
  }
}

/** The first page needs no number. */
function pageUrl(url: string, page: number): string {
  const [path = '', query = ''] = url.split('?', 2)
  const parameters = new URLSearchParams(query)
  parameters.delete('page')
  if (page > 1) parameters.set('page', String(page))
  const text = parameters.toString()
  return text === '' ? path : `${path}?${text}`
}
