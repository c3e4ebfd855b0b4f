/** HTTP routes for rehearsals. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { linkTo, routesOf } from '#services/shared'
import type { RulesApi } from '../contract.ts'
import {
  EVENT_PAGE,
  type QueuedRehearsal,
  QueuedRehearsalSchema,
  type Rehearsal,
  RehearsalEventsSchema,
  RehearsalRequest,
  RehearsalSchema,
  RehearsalSummarySchema,
  ReplayRequest,
} from './rehearsal-schema.ts'
import { unread } from '../shared-schema.ts'

const route = routesOf<RulesApi>()

function answered(
  answer: Rehearsal | QueuedRehearsal,
  request: FastifyRequest,
  reply: FastifyReply,
): Rehearsal | FastifyReply {
  if (!('uri' in answer)) return answer
  const uri = linkTo(request, answer.uri)
  return reply
    .code(202)
    .header('location', uri)
    .send({ ...answer, uri })
}

export const REHEARSAL_ROUTES = [
  route({
    method: 'POST',
    path: '/api/rehearsals',
    scope: 'author',
    summary: 'Rehearse a rule on stored data or messages, compare it with another rule, and sweep its values',
    body: unread<RehearsalRequest>(RehearsalRequest.schema),
    answers: { 200: RehearsalSchema, 202: QueuedRehearsalSchema },
    handler: async ({ api, body, request, reply }) => answered(await api.rehearsals.run(body), request, reply),
  }),
  route({
    method: 'GET',
    path: '/api/rehearsals/:id',
    scope: 'read',
    summary: 'A rehearsal: status, progress, and the result once it has ended',
    answers: { 200: RehearsalSchema },
    handler: ({ api, params }) => api.rehearsals.get(params.id),
  }),
  route({
    method: 'GET',
    path: '/api/rehearsals/:id/events',
    scope: 'read',
    summary: 'Events of a rehearsal, in order of time',
    query: EVENT_PAGE,
    answers: { 200: RehearsalEventsSchema },
    handler: ({ api, params, query }) => api.rehearsals.events(params.id, query),
  }),
  route({
    method: 'DELETE',
    path: '/api/rehearsals/:id',
    scope: 'author',
    summary: 'Cancel a rehearsal, or remove one that has ended',
    answers: { 204: Type.Null() },
    handler: async ({ api, params, reply }) => {
      await api.rehearsals.remove(params.id)
      return reply.code(204).send()
    },
  }),
  route({
    method: 'POST',
    path: '/api/tasks/:id/replay',
    scope: 'author',
    summary: 'Replay a copy of a task with one input changed or removed, and compare the result with the live task',
    body: unread<ReplayRequest>(ReplayRequest.schema),
    answers: { 200: RehearsalSchema, 202: QueuedRehearsalSchema },
    handler: async ({ api, params, body, request, reply }) =>
      answered(await api.rehearsals.replay(params.id, body), request, reply),
  }),
  route({
    method: 'GET',
    path: '/api/tasks/:id/rehearsals',
    scope: 'read',
    summary: 'Rehearsals of a task, newest first',
    answers: { 200: Type.Array(RehearsalSummarySchema) },
    handler: ({ api, params }) => api.rehearsals.ofTask(params.id),
  }),
]
