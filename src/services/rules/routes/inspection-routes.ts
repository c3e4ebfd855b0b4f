/** Routes that look into a task at work. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { isInstant, isoInstant, isPlainObject, Issues, makeIssue, notAnInstant, refuse } from '#kernel'
import type { NodeCommand, NodePush, RulesService, StreamEvent, TaskLogQuery } from '../contract.ts'
import {
  DeliverySchema,
  NodePushSchema,
  RuntimeNodeSchema,
  TaskLogQuerySchema,
  TaskLogSchema,
} from '../inspection/inspection-schema.ts'
import { readShape } from '../read-shape.ts'
import { AnyObject } from '../shared-schema.ts'
import { LOG_LEVELS } from '../words.ts'
import { sendEvents, type ServerEvent, Text, untilClosed, Whole } from '#services/shared'
import { described, handle } from './route-parts.ts'

const node = { params: ['id', 'node'], answers: { 200: RuntimeNodeSchema } } as const

export function inspectionRoutes(app: FastifyInstance, service: RulesService): void {
  nodeRoutes(app, service)
  logRoutes(app, service)
  app.get(
    '/api/tasks/:id/explain',
    described({
      summary: 'Why a node fired, or why not, and what would have let it',
      params: ['id'],
      query: { node: Text },
      answers: { 200: AnyObject },
    }),
    handle(service, ({ api, query, param }) => {
      const label = query.text('node')
      if (label === undefined) query.missing('node', 'write node=<label of a sensor or actuator>')
      query.done()
      return api.inspection.explain(param('id'), label ?? '')
    }),
  )
  app.get(
    '/api/tasks/:id/events',
    described({
      summary: 'What happens in a task, as server-sent events; goes on after Last-Event-ID',
      params: ['id'],
      produces: ['text/event-stream'],
    }),
    handle(service, async ({ api, query, request, param, reply }) => {
      const id = param('id')
      // a browser cannot set the header on its first request
      const given = request.headers['last-event-id'] ?? query.text('lastEventId')
      query.done()
      await api.tasks.runs(id)
      const lastEventId = Array.isArray(given) ? given[0] : given
      const options = { signal: untilClosed(reply), ...(lastEventId !== undefined && { lastEventId }) }
      return sendEvents(reply, named(api.inspection.events(id, options)))
    }),
  )
  app.get(
    '/api/tasks/:id/deliveries',
    described({
      summary: 'Calls of the actuators of a task, newest first',
      params: ['id'],
      query: { status: Type.Optional(Text), limit: Type.Optional(Whole), before: Type.Optional(Text) },
      answers: { 200: Type.Array(DeliverySchema) },
    }),
    handle(service, ({ api, query, param }) => {
      const status = query.oneOf('status', ['pending', 'retrying', 'delivered', 'dead'])
      const limit = Math.min(query.integer('limit', { least: 1 }) ?? 100, 1000)
      const before = query.text('before')
      query.done()
      const options = { limit, ...(status && { status }), ...(before !== undefined && { before }) }
      return api.inspection.deliveries(param('id'), options)
    }),
  )
}

function nodeRoutes(app: FastifyInstance, service: RulesService): void {
  app.get(
    '/api/tasks/:id/nodes/:node',
    described({ summary: 'A node as it stands', ...node }),
    handle(service, ({ api, param }) => api.inspection.node(param('id'), param('node'))),
  )
  app.get(
    '/api/tasks/:id/nodes/:node/states',
    described({ summary: 'The states that a node can have', ...node, answers: { 200: Type.Array(Text) } }),
    handle(service, ({ api, param }) => api.inspection.states(param('id'), param('node'))),
  )
  app.patch(
    '/api/tasks/:id/nodes/:node',
    described({ summary: 'Observe a state or raw data from outside', ...node, body: NodePushSchema }),
    handle(service, ({ api, param, body }) => {
      const push = readShape(NodePushSchema, body, 'the push') as NodePush
      return api.inspection.push(param('id'), param('node'), push)
    }),
  )
}

/** The old form of a push, which also takes plain text and forms. */
export function nodeCommandRoute(app: FastifyInstance, service: RulesService): void {
  app.post(
    '/api/tasks/:id/nodes/:node',
    described({
      summary: 'The same in the old form, or operation=start, operation=resume',
      ...node,
      body: Type.Object({ state: Type.Optional(Text), operation: Type.Optional(Type.Enum(['start', 'resume'])) }),
      consumes: ['application/x-www-form-urlencoded', 'text/plain', 'application/json'],
    }),
    handle(service, ({ api, param, body }) => api.inspection.command(param('id'), param('node'), readCommand(body))),
  )
}

function logRoutes(app: FastifyInstance, service: RulesService): void {
  const log = {
    summary: 'The log of a task, newest first: each step; of very busy hosts starts, ends, failures and lines of plugs',
    answers: { 200: TaskLogSchema },
  }
  app.post(
    '/api/tasklogs',
    described({ ...log, body: TaskLogQuerySchema }),
    handle(service, ({ api, body }) => {
      const given = readShape(TaskLogQuerySchema, body, 'the query') as Omit<TaskLogQuery, 'from' | 'until'> & {
        from?: number | string
        until?: number | string
      }
      const { from, until, ...rest } = given
      const issues = new Issues('TYPE')
      const query = { ...rest, ...timeOf('from', from, issues), ...timeOf('until', until, issues) }
      issues.throwIfAny('the query')
      return api.inspection.log(query)
    }),
  )
  app.get(
    '/api/tasklogs',
    described({ ...log, query: { taskId: Text, ...without(TaskLogQuerySchema.properties, 'taskId') } }),
    handle(service, ({ api, query }) => {
      const taskId = query.text('taskId')
      if (taskId === undefined) query.missing('taskId', 'write taskId=<id of a task>')
      const context = {
        logLevel: query.oneOf('logLevel', LOG_LEVELS),
        messageContains: query.text('messageContains'),
        from: query.time('from'),
        until: query.time('until'),
        pageToken: query.text('pageToken'),
        limit: query.integer('limit', { least: 1, most: 1000 }),
      }
      query.done()
      const present = Object.entries(context).filter(([, value]) => value !== undefined)
      return api.inspection.log({ taskId: taskId ?? '', ...Object.fromEntries(present) })
    }),
  )
}

/** `state=OPEN`, `operation=start`, or the same as JSON. */
function readCommand(body: unknown): NodeCommand {
  const fields = typeof body === 'string' ? Object.fromEntries(new URLSearchParams(body.trim())) : body
  const { state, operation } = isPlainObject(fields) ? fields : {}
  if (operation === 'start' || operation === 'resume') return { operation }
  if (typeof state === 'string' && state !== '' && operation === undefined) return { state }
  const message = 'expected state=<state>, operation=start or operation=resume'
  throw refuse('the command', [makeIssue('TYPE', '', message)])
}

function timeOf(name: 'from' | 'until', given: number | string | undefined, issues: Issues): object {
  if (given === undefined) return {}
  const time = typeof given === 'string' ? isoInstant(given) : given
  if (isInstant(time)) return { [name]: time }
  issues.wrong(`/${name}`, `"${given}" ${notAnInstant(given)}; write epoch ms or ISO 8601`)
  return {}
}

function without<T extends object, K extends keyof T>(fields: T, key: K): Omit<T, K> {
  const { [key]: _left, ...rest } = fields
  return rest
}

async function* named(events: AsyncIterable<StreamEvent>): AsyncGenerator<ServerEvent> {
  for await (const { id, event } of events) yield { id, event: event.type, data: event }
}
