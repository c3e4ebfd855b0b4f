/** Routes of operations on many alarms. */
import type { FastifyInstance } from 'fastify'
import { AlarmBatchSchema, AlarmBatchStatusSchema, QueuedAlarmBatchSchema } from '../alarm-schema.ts'
import type { AlarmsService } from '../contract.ts'
import { described, handle } from './route-parts.ts'

export function batchRoutes(app: FastifyInstance, service: AlarmsService): void {
  app.post(
    '/batch',
    described({
      summary: 'Delete or update all alarms that a query selects',
      body: AlarmBatchSchema,
      answers: { 202: QueuedAlarmBatchSchema },
    }),
    handle(service, async ({ api, request, reply }) => {
      const entity = await api.batches.queue(request.body)
      const uri = `/batch/${entity.id}`
      return reply.code(202).header('location', uri).send({ statusCode: 202, uri, entity })
    }),
  )
  app.get(
    '/batch/:id',
    described({
      summary: 'How far an operation is, and what became of each alarm',
      params: ['id'],
      answers: { 200: AlarmBatchStatusSchema },
    }),
    handle(service, ({ api, id }) => api.batches.get(id)),
  )
}
