/** Routes of single tasks. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { RevisionOptions } from '#kernel'
import type { RulesService } from '../contract.ts'
import { GraphFormatSchema } from '../shared-schema.ts'
import {
  CreatedTaskSchema,
  ReloadPreviewSchema,
  TaskEntitySchema,
  TaskRunSchema,
  TaskSpecificationSchema,
  type TaskSpecification,
} from '../tasks/task-schema.ts'
import { readFormat } from './read-filters.ts'
import { Flag, revisionCondition, withTag } from '#services/shared'
import { CHECKS, described, handle, readChecks, Version, type RequestContext } from './route-parts.ts'

const one = { params: ['id'] } as const
const entity = { ...one, answers: { 200: TaskEntitySchema } }

export function taskRoutes(app: FastifyInstance, service: RulesService): void {
  app.post(
    '/api/tasks',
    described({
      summary: 'Create a task from a rule, or from a template',
      body: TaskSpecificationSchema,
      query: CHECKS,
      answers: { 201: CreatedTaskSchema },
    }),
    handle(service, async ({ api, query, body, reply }) => {
      const created = await api.tasks.create(body as TaskSpecification, readChecks(query))
      return reply.code(201).header('location', `/api/tasks/${created.ID}`).send(created)
    }),
  )
  app.get(
    '/api/tasks/:id',
    described({
      summary: 'One task, with its rule and the states of its nodes',
      ...entity,
      query: { format: Type.Optional(GraphFormatSchema), includeHealth: Type.Optional(Flag) },
    }),
    handle(service, async ({ api, query, param, reply }) => {
      const format = readFormat(query) ?? 'bn'
      const includeHealth = query.flag('includeHealth') ?? false
      query.done()
      return withTag(reply, await api.tasks.get(param('id'), { format, includeHealth }))
    }),
  )
  app.get(
    '/api/tasks/:id/conf',
    described({
      summary: 'The specification as it was posted',
      ...one,
      query: { format: Type.Optional(GraphFormatSchema) },
      answers: { 200: TaskSpecificationSchema },
    }),
    handle(service, ({ api, query, param }) => {
      const format = readFormat(query)
      query.done()
      return api.tasks.conf(param('id'), format)
    }),
  )
  app.put(
    '/api/tasks/:id',
    described({
      summary: 'Give a task another specification',
      ...entity,
      body: TaskSpecificationSchema,
      query: CHECKS,
      isConditional: true,
    }),
    handle(service, async (context) => {
      const { api, query, body, id, reply } = context
      const options = { ...readChecks(query), ...(await conditionOf(context)) }
      return withTag(reply, await api.tasks.replace(id, body as TaskSpecification, options))
    }),
  )
  app.delete(
    '/api/tasks/:id',
    described({
      summary: 'Delete a task that does not run',
      ...one,
      query: { forceStop: Type.Optional(Flag) },
      isConditional: true,
      answers: { 204: Type.Null() },
    }),
    handle(service, async (context) => {
      const { api, query, id, reply } = context
      const forceStop = query.flag('forceStop') ?? false
      query.done()
      await api.tasks.remove(id, { forceStop, ...(await conditionOf(context)) })
      return reply.code(204).send()
    }),
  )
  app.post(
    '/api/tasks/:id/command/start',
    described({ summary: 'Start a task', isConditional: true, ...entity }),
    handle(service, async (context) =>
      withTag(context.reply, await context.api.tasks.start(context.id, await conditionOf(context))),
    ),
  )
  app.post(
    '/api/tasks/:id/command/stop',
    described({ summary: 'Stop a task', isConditional: true, ...entity }),
    handle(service, async (context) =>
      withTag(context.reply, await context.api.tasks.stop(context.id, await conditionOf(context))),
    ),
  )
  app.post(
    '/api/tasks/:id/command/restart',
    described({ summary: 'Stop a task that runs, and start it', isConditional: true, ...entity }),
    handle(service, async (context) =>
      withTag(context.reply, await context.api.tasks.restart(context.id, await conditionOf(context))),
    ),
  )
  app.post(
    '/api/tasks/:id/command/resync',
    described({ summary: 'Have a task that runs forget when its resources were measured last', ...entity }),
    handle(service, ({ api, param }) => api.tasks.resync(param('id'))),
  )
  app.post(
    '/api/tasks/:id/command/reload',
    described({
      summary: 'Make a task anew from another version of its template, or see what that would change',
      ...one,
      query: { dryRun: Type.Optional(Flag), templateVersion: Type.Optional(Version) },
      isConditional: true,
      answers: { 200: Type.Union([TaskEntitySchema, ReloadPreviewSchema]) },
    }),
    handle(service, async (context) => {
      const { api, query, id, reply } = context
      const dryRun = query.flag('dryRun') ?? false
      const templateVersion = query.integer('templateVersion', { least: 1 })
      query.done()
      const options = templateVersion === undefined ? {} : { templateVersion }
      if (dryRun) return api.batches.previewReload(id, options)
      return withTag(reply, await api.batches.reload(id, { ...options, ...(await conditionOf(context)) }))
    }),
  )
  app.get(
    '/api/tasks/:id/childRuns',
    described({
      summary: 'The last runs of a task, newest first',
      ...one,
      answers: { 200: Type.Array(TaskRunSchema) },
    }),
    handle(service, ({ api, param }) => api.tasks.runs(param('id'))),
  )
}

function conditionOf({ api, id, request }: RequestContext): Promise<RevisionOptions> {
  return revisionCondition(request, () => api.tasks.get(id))
}
