/** Routes that read stored messages. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { BrokerService } from '../contract.ts'
import { Whole } from '#services/shared'
import { described, handle, MessageSchema } from './route-parts.ts'

export function readRoutes(app: FastifyInstance, service: BrokerService): void {
  app.get(
    '/resources/:id/current',
    described({ summary: 'The newest stored message', params: ['id'], answers: { 200: MessageSchema } }),
    handle(service, ({ api, param }) => api.messages.current(param('id'))),
  )
  app.get(
    '/resources/:id/messages',
    described({
      summary: 'The last messages, newest first; at most 100',
      params: ['id'],
      query: { limit: Type.Optional(Whole) },
      answers: { 200: Type.Array(MessageSchema) },
    }),
    handle(service, ({ api, param, query }) => {
      const limit = query.integer('limit', { least: 1 })
      query.done()
      return api.messages.last(param('id'), 'events', limit)
    }),
  )
}
