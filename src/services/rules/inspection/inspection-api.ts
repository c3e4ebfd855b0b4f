/** HTTP routes for inspecting running tasks. */
import { Type } from 'typebox'
import { routesOf, sendEvents, type ServerEvent, untilClosed } from '#services/shared'
import { instant } from '#services/shared/contract'
import type { RulesApi } from '../contract.ts'
import { Text, unread } from '../shared-schema.ts'
import { ExplanationSchema } from './explanation-schema.ts'
import {
  AllDeliveriesSchema,
  DeliveriesSchema,
  type DeliveryQuery,
  DeliverySchema,
  DeliveryStatus,
  NodeCommand,
  NodePush,
  RuntimeNodeSchema,
  type StreamEvent,
  TASK_LOG,
  TaskLogQuery,
  TaskLogSchema,
} from './inspection-schema.ts'

const route = routesOf<RulesApi>()
const DELIVERIES_QUERY = {
  status: Type.Optional(DeliveryStatus),
  limit: Type.Optional(Type.Integer({ minimum: 1, description: 'default 100, at most 1,000' })),
  after: Type.Optional(Type.String({ description: 'deliveries after the one with this id' })),
}
const node = { 200: RuntimeNodeSchema }
const log = {
  summary:
    'The log of a task, newest first: every step; on very busy hosts only starts, ends, failures and lines of plugs',
  answers: { 200: TaskLogSchema },
} as const

export const INSPECTION_ROUTES = [
  route({
    method: 'GET',
    path: '/api/tasks/:id/nodes/:node',
    scope: 'read',
    summary: 'The current state of a node',
    answers: node,
    handler: ({ api, params }) => api.inspection.node(params.id, params.node),
  }),
  route({
    method: 'GET',
    path: '/api/tasks/:id/nodes/:node/states',
    scope: 'read',
    summary: 'The possible states of a node',
    answers: { 200: Type.Array(Text) },
    handler: ({ api, params }) => api.inspection.states(params.id, params.node),
  }),
  route({
    method: 'PATCH',
    path: '/api/tasks/:id/nodes/:node',
    scope: 'operate',
    summary: 'Set a state or raw data from outside',
    body: NodePush,
    answers: node,
    handler: ({ api, params, body }) => api.inspection.push(params.id, params.node, body),
  }),
  route({
    method: 'POST',
    path: '/api/tasklogs',
    scope: 'read',
    ...log,
    body: TaskLogQuery,
    handler: ({ api, body }) => api.inspection.log(body),
  }),
  route({
    method: 'GET',
    path: '/api/tasklogs',
    scope: 'read',
    ...log,
    query: TASK_LOG,
    handler: ({ api, query }) => api.inspection.log(query),
  }),
  route({
    method: 'GET',
    path: '/api/tasks/:id/explain',
    scope: 'read',
    summary: 'Why a node fired or has its state, or why not, and what would change that; also as sentences',
    query: {
      node: Type.String({ minLength: 1, description: 'label of a node' }),
      at: Type.Optional(instant),
    },
    answers: { 200: ExplanationSchema },
    handler: ({ api, params, query }) => api.inspection.explain(params.id, query.node, query.at),
  }),
  route({
    method: 'GET',
    path: '/api/tasks/:id/events',
    scope: 'read',
    summary: 'Events of a task, as server-sent events; resumes after Last-Event-ID',
    // browsers cannot set the `Last-Event-ID` header on the first request
    query: { lastEventId: Type.Optional(Text) },
    produces: ['text/event-stream'],
    handler: async ({ api, params: { id }, query, request, reply }) => {
      const lastEventId = request.headers['last-event-id']?.toString() ?? query.lastEventId ?? ''
      await api.tasks.runs(id)
      const options = { signal: untilClosed(reply), ...(lastEventId !== '' && { lastEventId }) }
      return sendEvents(reply, named(api.inspection.events(id, options)))
    },
  }),
  route({
    method: 'GET',
    path: '/api/tasks/:id/deliveries',
    scope: 'read',
    summary: 'Calls of the actuators of a task, newest first',
    query: DELIVERIES_QUERY,
    answers: { 200: DeliveriesSchema },
    handler: ({ api, params, query }) => api.inspection.deliveries(params.id, pageOf(query)),
  }),
  route({
    method: 'GET',
    path: '/api/deliveries',
    scope: 'read',
    summary: 'Calls of the actuators of all tasks, newest first',
    operation: { operationId: 'getAllDeliveries' },
    query: { ...DELIVERIES_QUERY, after: Type.Optional(Type.String({ description: '`next` of the page before' })) },
    answers: { 200: AllDeliveriesSchema },
    handler: ({ api, query }) => api.inspection.allDeliveries(pageOf(query)),
  }),
  route({
    method: 'POST',
    path: '/api/tasks/:id/deliveries/:delivery/retry',
    scope: 'operate',
    summary: 'Make the call of a dead delivery again, under the same id, and return the delivery with its result',
    answers: { 200: DeliverySchema },
    handler: ({ api, params }) => api.inspection.retry(params.id, params.delivery),
  }),
]

/** The old route for pushing to a node, which also accepts plain text and forms. */
export const NODE_COMMAND = route({
  method: 'POST',
  path: '/api/tasks/:id/nodes/:node',
  scope: 'operate',
  summary: 'The same in the old format, or operation=start, operation=resume',
  body: unread<string | NodeCommand>(NodeCommand.schema),
  consumes: ['application/x-www-form-urlencoded', 'text/plain', 'application/json'],
  answers: node,
  handler: ({ api, params, body }) => {
    const fields: unknown = typeof body === 'string' ? Object.fromEntries(new URLSearchParams(body.trim())) : body
    return api.inspection.command(params.id, params.node, NodeCommand.read(fields))
  },
})

function pageOf({ limit = 100, ...query }: Partial<DeliveryQuery>): DeliveryQuery {
  return { ...query, limit: Math.min(limit, 1000) }
}

async function* named(events: AsyncIterable<StreamEvent>): AsyncGenerator<ServerEvent> {
  for await (const { id, event } of events) yield { id, event: event.type, data: event }
}
