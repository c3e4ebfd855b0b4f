/** Routes over many tasks: listing, counting, the old changes at once. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { AppError, isPlainObject, makeIssue, refuse } from '#kernel'
import type { BatchRequest, BatchStatus, RulesService } from '../contract.ts'
import { removeRefused } from '../error-texts.ts'
import { GraphFormatSchema, TaskStatusSchema, TaskTypeSchema } from '../shared-schema.ts'
import { PagedTasksSchema, TaskEntitySchema, type TaskFilter } from '../tasks/task-schema.ts'
import { BATCH_ACTIONS } from '../words.ts'
import { Flag, type QueryReader, Text, Texts, Whole } from '#services/shared'
import { readFormat, readIds, readPaging, readTaskFilter, TAG_PARAMETERS } from './read-filters.ts'
import { described, handle, Version } from './route-parts.ts'
import { sendList } from './send-list.ts'

const Time = Type.Optional(
  Type.Union([Type.Integer(), Type.String({ format: 'date-time' })], { description: 'epoch ms or ISO 8601' }),
)
const filters = {
  filter: Type.Optional(Type.String({ description: 'words anywhere in name, id, resource, template, user, tags' })),
  name: Type.Optional(Type.String({ description: '* is any text' })),
  resource: Type.Optional(Text),
  resourceType: Type.Optional(Type.String({ description: 'of one of its resources' })),
  resourceMetadataExpression: Type.Optional(Type.String({ description: 'about one of its resources' })),
  type: Type.Optional(TaskTypeSchema),
  status: Type.Optional(TaskStatusSchema),
  ids: Type.Optional(Type.Array(Type.String(), { description: 'also comma-separated' })),
  id: Type.Optional(Texts),
  plugin: Type.Optional(Type.String({ description: 'name or name:version' })),
  template: Type.Optional(Type.String({ description: 'null: tasks without a template' })),
  templateVersion: Type.Optional(Version),
  tags: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'has one of these keys; tags.<key>=<value>: a key that repeats has one of the values, all keys must fit',
    }),
  ),
  user: Type.Optional(Text),
  createdAfter: Time,
  createdBefore: Time,
  finishedBefore: Time,
}
const paging = {
  startIndex: Type.Optional(Whole),
  hits: Type.Optional(Type.Integer({ minimum: 0, description: 'default 10, at most 100' })),
}

export function taskListRoutes(app: FastifyInstance, service: RulesService): void {
  app.get(
    '/api/tasks',
    {
      ...described({
        summary: 'List and search tasks, newest first',
        otherQuery: TAG_PARAMETERS,
        query: {
          ...filters,
          ...paging,
          format: Type.Optional(GraphFormatSchema),
          includeHealth: Type.Optional(Flag),
          includegraph: Type.Optional(Type.Boolean({ description: 'default true' })),
        },
        answers: { 200: Type.Union([Type.Array(TaskEntitySchema), PagedTasksSchema]) },
      }),
      exposeHeadRoute: false,
    },
    handle(service, async ({ api, query, request, reply }) => {
      const where = readTaskFilter(query)
      const paged = readPaging(query)
      const format = readFormat(query) ?? 'bn'
      const includeHealth = query.flag('includeHealth') ?? false
      const withoutGraph = query.flag('includegraph') === false
      query.done()
      const page = await api.tasks.list({ where, ...paged }, { format, includeHealth, withoutGraph })
      return sendList(request, reply, page)
    }),
  )
  app.head(
    '/api/tasks',
    described({
      summary: 'How many tasks there are',
      query: { ...filters, ...paging },
      otherQuery: TAG_PARAMETERS,
    }),
    handle(service, async ({ api, query, reply }) => {
      const where = readTaskFilter(query)
      // clients send hits=0; a page of a count is the count all the same
      readPaging(query)
      query.done()
      return reply.header('x-count', await api.tasks.count(where)).send()
    }),
  )
  app.delete(
    '/api/tasks',
    described({
      summary: 'Delete several tasks at once: all of them, or none',
      query: { ids: filters.ids, id: filters.id, forceStop: Type.Optional(Flag) },
      answers: { 200: Type.Object({ successful: Type.Array(Text) }) },
    }),
    handle(service, async ({ api, query }) => {
      const ids = readIds(query)
      const forceStop = query.flag('forceStop') ?? false
      if (ids === undefined) query.missing('ids', 'write ids=a,b')
      query.done()
      const found = await Promise.all((ids ?? []).map((id) => api.tasks.get(id)))
      const running = found.find(({ status }) => status === 'running')
      if (running !== undefined && !forceStop) throw removeRefused(running.status)
      for (const { ID } of found) await api.tasks.remove(ID, { forceStop })
      return { successful: found.map(({ ID }) => ID) }
    }),
  )
  app.patch(
    '/api/tasks',
    described({
      summary: 'Change the tasks that the query selects, and wait for it',
      query: filters,
      otherQuery: TAG_PARAMETERS,
      body: Type.Object(
        { operation: Type.Enum(['command', 'updatePlugins', 'updateProperties']) },
        { additionalProperties: true, title: 'TaskOperation' },
      ),
      answers: { 200: Type.Object({}, { additionalProperties: true, title: 'TaskOutcomes' }) },
    }),
    handle(service, async ({ api, query, body }) => {
      const where = readTaskFilter(query)
      query.done()
      return outcomes(await api.batches.run(batchOf(where, query, body)))
    }),
  )
}

/** Actions that need no parameters. */
const COMMANDS = BATCH_ACTIONS.filter((action) => !action.startsWith('update'))

/** The old body as a batch: `{ operation: 'command', command: 'start' }` and the like. */
function batchOf(where: TaskFilter, { keys }: QueryReader, body: unknown): BatchRequest {
  if (keys.length === 0) throw new AppError('VALIDATION', '/ <- the query selects no tasks; write ids=a,b or a filter')
  const { operation, command, ...parameters } = isPlainObject(body) ? body : {}
  if (operation !== 'command' && operation !== 'updatePlugins' && operation !== 'updateProperties') {
    const message = `unknown operation ${JSON.stringify(operation)}, we support command, updatePlugins, updateProperties`
    throw refuse('the change', [makeIssue('TYPE', '/operation', message)])
  }
  if (operation === 'command' && !COMMANDS.some((one) => one === command)) {
    const named = typeof command === 'string' ? command : JSON.stringify(command)
    const message = `unknown command ${named}, we support ${COMMANDS.join(', ')}`
    throw refuse('the change', [makeIssue('TYPE', '/command', message)])
  }
  const { tags, ...others } = where
  const query = { ...others, ...(tags && { tags: tagsOf(tags) }) }
  const action = (operation === 'command' ? command : operation) as BatchRequest['action']
  return { entity: 'task', action, query, actionParameters: parameters }
}

function tagsOf(tags: NonNullable<TaskFilter['tags']>): Readonly<Record<string, unknown>> {
  const values = new Map<string, (string | null)[]>()
  for (const { key, value } of tags) values.set(key, [...(values.get(key) ?? []), value ?? null])
  return Object.fromEntries([...values].map(([key, list]) => [key, list.includes(null) ? null : list]))
}

function outcomes({ results }: BatchStatus): object {
  const { success = {}, failure = {} } = results ?? {}
  const failed = Object.entries(failure).map(([id, { error }]) => ({ id, error }))
  return { successful: Object.keys(success), ...(failed.length > 0 && { failed }) }
}
