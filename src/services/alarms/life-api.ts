/** HTTP routes of the life cycle of alarms: what people do to them, their counts, and their types. */
import { Type } from 'typebox'
import { revisionCondition, routesOf, withTag } from '#services/shared'
import { AlarmSchema, COUNTED } from './alarm-schema.ts'
import type { AlarmQuery, AlarmsApi } from './contract.ts'
import { AlarmFiguresSchema, AlarmGroupsSchema, PERIOD } from './figures-schema.ts'
import {
  AlarmCountsSchema,
  AlarmTypeSchema,
  AlarmTypesSchema,
  CommentsSchema,
  NewAlarmType,
  NewComment,
  Remark,
  Shelving,
} from './life-schema.ts'
import { sendAlarm } from './send-alarm.ts'

const route = routesOf<AlarmsApi>()

export const LIFE_ROUTES = [
  route({
    method: 'POST',
    path: '/alarm/alarms/:id/acknowledge',
    scope: 'operate',
    summary: 'Acknowledge an alarm; one that has returned ends',
    body: Remark,
    answers: { 200: AlarmSchema },
    handler: async ({ api, params, body, reply }) => sendAlarm(reply, await api.acknowledge(params.id, body)),
  }),
  route({
    method: 'POST',
    path: '/alarm/alarms/:id/shelve',
    scope: 'operate',
    summary: 'Shelve an alarm until a time, with a reason: it is counted, but not announced',
    body: Shelving,
    answers: { 200: AlarmSchema },
    handler: async ({ api, params, body, reply }) => sendAlarm(reply, await api.shelve(params.id, body)),
  }),
  route({
    method: 'POST',
    path: '/alarm/alarms/:id/unshelve',
    scope: 'operate',
    summary: 'End the shelving of an alarm; one that is open is announced',
    body: Remark,
    answers: { 200: AlarmSchema },
    handler: async ({ api, params, body, reply }) => sendAlarm(reply, await api.unshelve(params.id, body)),
  }),
  route({
    method: 'POST',
    path: '/alarm/alarms/:id/comments',
    scope: 'operate',
    summary: 'Comment on an alarm, whether or not it is open',
    body: NewComment,
    answers: { 200: AlarmSchema },
    handler: async ({ api, params, body, reply }) => sendAlarm(reply, await api.comment(params.id, body)),
  }),
  route({
    method: 'GET',
    path: '/alarm/alarms/:id/comments',
    scope: 'read',
    summary: 'Comments on an alarm and reasons of its changes, oldest first',
    answers: { 200: CommentsSchema },
    handler: ({ api, params }) => api.comments(params.id),
  }),
  route({
    method: 'GET',
    path: '/alarm/counts',
    scope: 'read',
    summary: 'Numbers of alarms by their states; takes the filters of the list',
    query: COUNTED,
    otherQuery: /./,
    answers: { 200: AlarmCountsSchema },
    handler: ({ api, request }) => api.counts(request.query as AlarmQuery),
  }),
  route({
    method: 'GET',
    path: '/alarm/figures',
    scope: 'read',
    summary: 'Figures of the alarm system in a period, after ISA-18.2 and EEMUA 191',
    query: PERIOD,
    answers: { 200: AlarmFiguresSchema },
    handler: ({ api, request }) => api.figures(request.query as AlarmQuery),
  }),
  route({
    method: 'GET',
    path: '/alarm/groups',
    scope: 'read',
    summary: 'Alarms of a period in groups, by rule, resource tree and time, largest first',
    query: PERIOD,
    answers: { 200: AlarmGroupsSchema },
    handler: ({ api, request }) => api.groups(request.query as AlarmQuery),
  }),
  route({
    method: 'GET',
    path: '/alarm/types',
    scope: 'read',
    summary: 'Types of alarms for which something is agreed',
    answers: { 200: AlarmTypesSchema },
    handler: async ({ api }) => ({ types: await api.types.list() }),
  }),
  route({
    method: 'GET',
    path: '/alarm/types/:type',
    scope: 'read',
    summary: 'What is agreed about the alarms of a type',
    answers: { 200: AlarmTypeSchema },
    handler: async ({ api, params, reply }) => withTag(reply, await api.types.get(params.type)),
  }),
  route({
    method: 'PUT',
    path: '/alarm/types/:type',
    scope: 'author',
    summary: 'Replace or create a type of alarms',
    body: NewAlarmType,
    isConditional: true,
    answers: { 200: AlarmTypeSchema },
    handler: async ({ api: { types }, params: { type }, body, request, reply }) => {
      const condition = await revisionCondition(request, () => types.get(type))
      return withTag(reply, await types.put(type, body, condition))
    },
  }),
  route({
    method: 'DELETE',
    path: '/alarm/types/:type',
    scope: 'author',
    summary: 'Delete a type of alarms; its alarms stay',
    isConditional: true,
    answers: { 204: Type.Null() },
    handler: async ({ api: { types }, params: { type }, request, reply }) => {
      await types.remove(type, await revisionCondition(request, () => types.get(type)))
      return reply.code(204).send()
    },
  }),
]
