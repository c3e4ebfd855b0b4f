/** HTTP routes for tasks and batch operations. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError, type Caller, makeIssue, refuse, type RevisionOptions } from '#kernel'
import {
  addRoutes,
  bodyText,
  callerOf,
  Flag,
  linkTo,
  revisionCondition,
  routesOf,
  Texts,
  withTag,
} from '#services/shared'
import { CHECKED, checked, closed, type Decoded, refined } from '#services/shared/contract'
import {
  BATCH_ACTIONS,
  BatchPreviewSchema,
  BatchRequest,
  BatchStatusSchema,
  parameterProblems,
  PROPERTIES,
  QueuedBatchSchema,
  UpdatePluginsSchema,
} from './batches/batch-schema.ts'
import type { BatchStatus, RulesApi, RulesService } from './contract.ts'
import { removeRefused } from './error-texts.ts'
import { INPUTS_ROUTES } from './inputs/inputs-api.ts'
import { INSPECTION_ROUTES, NODE_COMMAND } from './inspection/inspection-api.ts'
import { FORMAT, IDS, idsOf, PAGING, sendList, TAG_PARAMETERS, TASK_LISTING, taskListing } from './listing.ts'
import { AnyObject, ErrorBodySchema, ISSUE_TYPES, unread, Version } from './shared-schema.ts'
import {
  CreatedTaskSchema,
  PagedTasksSchema,
  ReloadPreviewSchema,
  TaskEntitySchema,
  type TaskFilter,
  TaskRunSchema,
  type TaskSpecification,
  TaskSpecificationSchema,
} from './tasks/task-schema.ts'
import { NOTE, TASK_VERSION_ROUTES } from './tasks/task-version-api.ts'
import { REHEARSE } from './rehearsals/rehearsal-schema.ts'
import { CHECKS, TEMPLATE_ROUTES } from './templates/template-api.ts'
import { REHEARSAL_ROUTES } from './rehearsals/rehearsal-api.ts'
import { ROLLOUT_ROUTES } from './rollouts/rollout-api.ts'
import { TOOL_ROUTES } from './tools/tool-api.ts'

export interface OtherBatches {
  takes(body: unknown): boolean
  queue(caller: Caller, body: unknown): Promise<{ readonly id: string }>
  get(caller: Caller, id: string): Promise<unknown>
}

interface RulesRouting {
  readonly service: RulesService
  readonly otherBatches?: (() => OtherBatches | undefined) | undefined
}

const route = routesOf<RulesApi>()
const specification = unread<TaskSpecification>(TaskSpecificationSchema)
const forceStop = { forceStop: Type.Optional(Flag) }
const includeHealth = { includeHealth: Type.Optional(Flag) }
const entity = { 200: TaskEntitySchema }

const command = Type.Enum(BATCH_ACTIONS.filter((action) => !action.startsWith('update')))
const { updates } = UpdatePluginsSchema.properties
const templateVersion = Type.Optional(Type.Integer({ minimum: 1, description: 'with reload', ...CHECKED }))
const TaskOperationSchema = closed({
  operation: Type.Enum(['command', 'updatePlugins', 'updateProperties']),
  command: Type.Optional(command),
  updates: Type.Optional(updates),
  templateVersion,
  ...PROPERTIES,
})
const OPERATIONS = Type.Union(
  [
    closed({ operation: Type.Enum(['command']), command, templateVersion }),
    closed({ operation: Type.Enum(['updatePlugins']), updates }),
    closed({ operation: Type.Enum(['updateProperties']), ...PROPERTIES }),
  ],
  { title: 'TaskOperation' },
)
const { read } = checked(
  refined(TaskOperationSchema, (body) => {
    const { operation, command, ...parameters } = body as Decoded<typeof TaskOperationSchema>
    if (operation === 'command' && command === undefined) return [{ at: '/command', message: 'is required' }]
    return parameterProblems(operation === 'command' ? command : operation, parameters, '')
  }),
  { subject: 'the change', ...ISSUE_TYPES },
)
const taskOperation = { schema: Type.Unsafe<Decoded<typeof TaskOperationSchema>>(OPERATIONS), read }

const TASK_ROUTES = [
  route({
    method: 'POST',
    path: '/api/tasks',
    scope: 'operate',
    summary: 'Create a task from a rule, or from a template',
    body: specification,
    query: { ...CHECKS, ...NOTE },
    answers: { 201: CreatedTaskSchema },
    handler: async ({ api, query, body, request, reply }) => {
      const created = await api.tasks.create(body, query)
      return reply
        .code(201)
        .header('location', linkTo(request, `/api/tasks/${created.ID}`))
        .send(created)
    },
  }),
  // must precede GET, whose route would also match HEAD
  route({
    method: 'HEAD',
    path: '/api/tasks',
    scope: 'read',
    summary: 'Number of tasks',
    // clients send hits=0 to count tasks, so a page size is allowed and has no effect
    query: { ...TASK_LISTING, ...PAGING },
    otherQuery: TAG_PARAMETERS,
    handler: async ({ api, request, reply }) =>
      reply.header('x-count', await api.tasks.count(taskListing(request.query).where)).send(),
  }),
  route({
    method: 'GET',
    path: '/api/tasks',
    scope: 'read',
    summary: 'List and search tasks, newest first',
    query: {
      ...TASK_LISTING,
      ...PAGING,
      ...FORMAT,
      ...includeHealth,
      includegraph: Type.Optional(Type.Boolean({ description: 'default true' })),
    },
    otherQuery: TAG_PARAMETERS,
    answers: { 200: Type.Union([Type.Array(TaskEntitySchema), PagedTasksSchema]) },
    handler: async ({ api, request, reply }) => {
      const { format = 'bn', includeHealth = false, includegraph = true, ...query } = taskListing(request.query)
      const page = await api.tasks.list(query, { format, includeHealth, withoutGraph: !includegraph })
      return sendList(request, reply, page)
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/tasks',
    scope: 'operate',
    summary: 'Delete several tasks atomically',
    query: { ...IDS, ...forceStop },
    answers: { 200: Type.Object({ successful: Texts }) },
    handler: async ({ api, query: { ids, id, forceStop = false } }) => {
      if ((ids ?? id) === undefined)
        throw refuse('the query', [makeIssue('QUERY', '/ids', 'is missing', 'write ids=a,b')])
      const found = await Promise.all(idsOf({ ids, id }).map((one) => api.tasks.get(one)))
      const running = found.find(({ status }) => status === 'running')
      if (running !== undefined && !forceStop) throw removeRefused(running.status)
      for (const { ID } of found) await api.tasks.remove(ID, { forceStop })
      return { successful: found.map(({ ID }) => ID) }
    },
  }),
  route({
    method: 'PATCH',
    path: '/api/tasks',
    scope: 'operate',
    summary: 'Change the selected tasks, and wait for the result',
    query: TASK_LISTING,
    otherQuery: TAG_PARAMETERS,
    body: taskOperation,
    answers: { 200: Type.Object({}, { additionalProperties: true, title: 'TaskOutcomes' }) },
    handler: async ({ api, request, body: { operation, command, ...actionParameters } }) => {
      const where = taskListing(request.query).where
      if (Object.keys(request.query as object).length === 0)
        throw new AppError('VALIDATION', '/ <- the query selects no tasks; write ids=a,b or a filter')
      const action = operation === 'command' ? command : operation
      // never undefined, since the body was already checked
      if (action === undefined) return {}
      return outcomes(await api.batches.run({ entity: 'task', action, query: queryOf(where), actionParameters }))
    },
  }),
  route({
    method: 'GET',
    path: '/api/tasks/:id',
    scope: 'read',
    summary: 'One task, with its rule and the states of its nodes',
    query: { ...FORMAT, ...includeHealth },
    answers: entity,
    handler: async ({ api, params, query: { format = 'bn', includeHealth = false }, reply }) =>
      withTag(reply, await api.tasks.get(params.id, { format, includeHealth })),
  }),
  route({
    method: 'GET',
    path: '/api/tasks/:id/conf',
    scope: 'read',
    summary: 'The specification as it was posted',
    query: FORMAT,
    answers: { 200: TaskSpecificationSchema },
    handler: ({ api, params, query }) => api.tasks.conf(params.id, query.format),
  }),
  route({
    method: 'PUT',
    path: '/api/tasks/:id',
    scope: 'operate',
    summary: 'Replace the specification of a task, or preview the change',
    body: specification,
    query: { ...CHECKS, ...NOTE, dryRun: Type.Optional(Flag) },
    isConditional: true,
    answers: { 200: Type.Union([TaskEntitySchema, ReloadPreviewSchema]) },
    handler: async ({ api, params: { id }, query: { dryRun = false, ...query }, body, request, reply }) => {
      if (dryRun) return api.batches.previewReplace(id, body)
      const options = { ...query, ...(await conditionOf(api, id, request)) }
      return withTag(reply, await api.tasks.replace(id, body, options))
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/tasks/:id',
    scope: 'operate',
    summary: 'Delete a task that is not running',
    query: forceStop,
    isConditional: true,
    answers: { 204: Type.Null() },
    handler: async ({ api, params: { id }, query, request }) =>
      api.tasks.remove(id, { ...query, ...(await conditionOf(api, id, request)) }),
  }),
  commandRoute('start', 'Start a task'),
  commandRoute('stop', 'Stop a task'),
  commandRoute('restart', 'Restart a running task'),
  route({
    method: 'POST',
    path: '/api/tasks/:id/command/resync',
    scope: 'operate',
    summary: 'Make a running task forget the last measurement times of its resources',
    answers: entity,
    handler: ({ api, params }) => api.tasks.resync(params.id),
  }),
  route({
    method: 'POST',
    path: '/api/tasks/:id/command/reload',
    scope: 'operate',
    summary: 'Move a task to another version of its template, or preview the change',
    query: { dryRun: Type.Optional(Flag), templateVersion: Type.Optional(Version), ...REHEARSE },
    isConditional: true,
    answers: { 200: Type.Union([TaskEntitySchema, ReloadPreviewSchema]) },
    handler: async ({ api, params: { id }, query: { dryRun = false, ...options }, request, reply }) => {
      if (dryRun) return api.batches.previewReload(id, options)
      return withTag(reply, await api.batches.reload(id, { ...options, ...(await conditionOf(api, id, request)) }))
    },
  }),
  route({
    method: 'GET',
    path: '/api/tasks/:id/childRuns',
    scope: 'read',
    summary: 'The last runs of a task, newest first',
    answers: { 200: Type.Array(TaskRunSchema) },
    handler: ({ api, params }) => api.tasks.runs(params.id),
  }),
]

export async function rulesRoutes(app: FastifyInstance, { service, otherBatches }: RulesRouting): Promise<void> {
  const shared = { tag: 'rules', errors: ErrorBodySchema }
  const routes = [
    ...TASK_ROUTES,
    ...TASK_VERSION_ROUTES,
    ...TEMPLATE_ROUTES,
    ...INSPECTION_ROUTES,
    ...INPUTS_ROUTES,
    ...TOOL_ROUTES,
    ...REHEARSAL_ROUTES,
    ...ROLLOUT_ROUTES,
    ...batchRoutes(otherBatches ?? (() => undefined)),
  ]
  await addRoutes(app, service, { ...shared, routes })
  await addRoutes(app, service, { ...shared, routes: [NODE_COMMAND], addParsers: readTexts })
}

function readTexts(app: FastifyInstance): void {
  for (const type of ['application/x-www-form-urlencoded', 'text/plain']) {
    if (app.hasContentTypeParser(type)) continue
    app.addContentTypeParser(type, { parseAs: 'buffer' }, async (_request: unknown, bytes: Buffer) => bodyText(bytes))
  }
}

function batchRoutes(otherBatches: () => OtherBatches | undefined) {
  return [
    route({
      method: 'POST',
      path: '/api/batch',
      scope: 'operate',
      summary: 'Change all selected tasks or resources, or preview a change of tasks',
      body: unread<BatchRequest>(Type.Union([BatchRequest.schema, OtherBatchSchema])),
      query: { dryRun: Type.Optional(Flag) },
      answers: { 200: BatchPreviewSchema, 202: QueuedBatchSchema },
      handler: async ({ api, query: { dryRun = false }, body, request, reply }) => {
        const others = otherBatches()
        if (others?.takes(body) === true) {
          if (dryRun) throw new AppError('VALIDATION', '/dryRun <- only operations on tasks can be previewed')
          const queued = await others.queue(callerOf(request), body)
          const uri = linkTo(request, `/api/batch/${queued.id}`)
          return reply.code(202).header('location', uri).send({ statusCode: 202, uri, entity: queued })
        }
        if (dryRun) return api.batches.preview(body)
        const queued = await api.batches.queue(body)
        const uri = linkTo(request, queued.uri)
        return reply
          .code(202)
          .header('location', uri)
          .send({ ...queued, uri })
      },
    }),
    route({
      method: 'GET',
      path: '/api/batch/:id',
      scope: 'read',
      summary: 'Progress of an operation, and the result for each task',
      answers: { 200: BatchStatusSchema },
      handler: async ({ api, params: { id }, request }) => {
        try {
          return await api.batches.get(id)
        } catch (error) {
          const others = otherBatches()
          if (others === undefined || !isNotFound(error)) throw error
          // for an id that the other service does not know either, respond with the error of this service
          return await others.get(callerOf(request), id).catch((other: unknown) => {
            throw isNotFound(other) ? error : other
          })
        }
      },
    }),
  ]
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

function commandRoute(command: 'start' | 'stop' | 'restart', summary: string) {
  return route({
    method: 'POST',
    path: `/api/tasks/:id/command/${command}`,
    scope: 'operate',
    summary,
    isConditional: true,
    answers: entity,
    handler: async ({ api, params: { id }, request, reply }) =>
      withTag(reply, await api.tasks[command](id, await conditionOf(api, id, request))),
  })
}

function conditionOf(api: RulesApi, id: string, request: FastifyRequest): Promise<RevisionOptions> {
  return revisionCondition(request, () => api.tasks.get(id))
}

function queryOf({ tags = [], ...others }: TaskFilter): Readonly<Record<string, unknown>> {
  const values = new Map<string, (string | null)[]>()
  for (const { key, value } of tags) values.set(key, [...(values.get(key) ?? []), value ?? null])
  const byKey = [...values].map(([key, list]) => [key, list.includes(null) ? null : list])
  return { ...others, ...(byKey.length > 0 && { tags: Object.fromEntries(byKey) }) }
}

function outcomes({ results }: BatchStatus): object {
  const { success = {}, failure = {} } = results ?? {}
  const failed = Object.entries(failure).map(([id, { error }]) => ({ id, error }))
  return { successful: Object.keys(success), ...(failed.length > 0 && { failed }) }
}

function isNotFound(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'NOT_FOUND'
}
