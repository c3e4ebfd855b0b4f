/** HTTP routes for looking at tasks in the past. */
import { Type } from 'typebox'
import { routesOf } from '#services/shared'
import { instant } from '#services/shared/contract'
import type { RulesApi } from '../contract.ts'
import { INPUTS_QUERY, InputsPageSchema, TaskStateSchema } from './inputs-schema.ts'

const route = routesOf<RulesApi>()

export const INPUTS_ROUTES = [
  route({
    method: 'GET',
    path: '/api/tasks/:id/inputs',
    scope: 'read',
    summary: 'The kept inputs of a task, oldest first, with the firings of each',
    query: INPUTS_QUERY,
    answers: { 200: InputsPageSchema },
    handler: ({ api, params, query }) => api.inspection.inputs(params.id, query),
  }),
  route({
    method: 'GET',
    path: '/api/tasks/:id/state',
    scope: 'read',
    summary: 'The nodes and pending timers of a task at an instant, or now',
    query: { at: Type.Optional(instant) },
    answers: { 200: TaskStateSchema },
    handler: ({ api, params, query }) => api.inspection.state(params.id, query.at),
  }),
]
