/** Routes of operations on many tasks (part 2, 2.4 and 4.1). */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { BatchRequestSchema, BatchStatusSchema, QueuedBatchSchema } from '../batch-schema.ts'
import type { BatchRequest, RulesService } from '../contract.ts'
import { described, Flag, handle } from './route-parts.ts'

export function batchRoutes(app: FastifyInstance, service: RulesService): void {
  app.post(
    '/api/batch',
    described({
      summary: 'Do something to all tasks that a query selects, or see what it would change',
      body: BatchRequestSchema,
      query: { dryRun: Type.Optional(Flag) },
      answers: { 202: QueuedBatchSchema },
    }),
    handle(service, async ({ api, query, body, reply }) => {
      const dryRun = query.flag('dryRun') ?? false
      query.done()
      if (dryRun) return api.batches.preview(body as BatchRequest)
      const queued = await api.batches.queue(body as BatchRequest)
      return reply.code(202).header('location', queued.uri).send(queued)
    }),
  )
  app.get(
    '/api/batch/:id',
    described({
      summary: 'How far an operation is, and what became of each task',
      params: ['id'],
      answers: { 200: BatchStatusSchema },
    }),
    handle(service, ({ api, param }) => api.batches.get(param('id'))),
  )
}
