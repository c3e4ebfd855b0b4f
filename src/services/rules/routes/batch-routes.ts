/** Routes of operations on many tasks. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError, type Caller } from '#kernel'
import { AnyObject } from '../shared-schema.ts'
import {
  BatchPreviewSchema,
  BatchRequestSchema,
  BatchStatusSchema,
  QueuedBatchSchema,
} from '../batches/batch-schema.ts'
import type { BatchRequest, RulesService } from '../contract.ts'
import { Flag } from '#services/shared'
import { described, handle } from './route-parts.ts'

/** Operations of other services, which come on the paths of operations on tasks. */
export interface OtherBatches {
  /** whether the body is one of theirs, be it right or wrong */
  takes(body: unknown): boolean
  /** `VALIDATION` with every problem */
  queue(caller: Caller, body: unknown): Promise<{ readonly id: string }>
  /** `NOT_FOUND` for an id that is not theirs */
  get(caller: Caller, id: string): Promise<unknown>
}

export function batchRoutes(
  app: FastifyInstance,
  service: RulesService,
  otherBatches: () => OtherBatches | undefined = () => undefined,
): void {
  app.post(
    '/api/batch',
    described({
      summary: 'Do something to all tasks, or resources, that a query selects, or see what it would do to tasks',
      body: Type.Union([BatchRequestSchema, OtherBatchSchema]),
      query: { dryRun: Type.Optional(Flag) },
      answers: { 200: BatchPreviewSchema, 202: QueuedBatchSchema },
    }),
    handle(service, async ({ api, query, body, request, reply }) => {
      const dryRun = query.flag('dryRun') ?? false
      query.done()
      const others = otherBatches()
      if (others?.takes(body) === true) {
        if (dryRun) throw new AppError('VALIDATION', '/dryRun <- only operations on tasks can be looked at before')
        const entity = await others.queue(callerOf(request), body)
        const uri = `/api/batch/${entity.id}`
        return reply.code(202).header('location', uri).send({ statusCode: 202, uri, entity })
      }
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
    handle(service, async ({ api, param, request }) => {
      const id = param('id')
      try {
        return await api.batches.get(id)
      } catch (error) {
        const others = otherBatches()
        if (others === undefined || !isNotFound(error)) throw error
        // what nobody knows is told in the words of this service
        return await others.get(callerOf(request), id).catch((other: unknown) => {
          throw isNotFound(other) ? error : other
        })
      }
    }),
  )
}

const OtherBatchSchema = Type.Object(
  {
    entity: Type.Enum(['resource', 'resourcetype']),
    action: Type.Enum(['delete', 'patchOrInsert']),
    query: AnyObject,
    actionParameters: Type.Optional(AnyObject),
  },
  { title: 'batch of resources', description: 'ids to delete, or resources to patch or insert' },
)

function callerOf({ tenant, user }: FastifyRequest): Caller {
  return { tenant, user }
}

function isNotFound(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'NOT_FOUND'
}
