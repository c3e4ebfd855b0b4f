/** HTTP routes for the versions of tasks without a template. */
import { Type } from 'typebox'
import { Flag, revisionCondition, routesOf, withTag } from '#services/shared'
import type { RulesApi } from '../contract.ts'
import { PAGING, pageOf, sendList } from '../listing.ts'
import {
  PagedTaskVersionsSchema,
  ReloadPreviewSchema,
  TaskEntitySchema,
  TaskVersionDetailSchema,
  TaskVersionSchema,
} from './task-schema.ts'

const route = routesOf<RulesApi>()
const against = Type.Integer({ minimum: 1, description: 'version to compare with; default: the one before' })

export const NOTE = { note: Type.Optional(Type.String({ maxLength: 2_000, description: 'why the task is changed' })) }

export const TASK_VERSION_ROUTES = [
  route({
    method: 'GET',
    path: '/api/tasks/:id/versions',
    scope: 'read',
    summary: 'The kept versions of a task that was made from a rule, newest first',
    query: PAGING,
    answers: { 200: Type.Union([Type.Array(TaskVersionSchema), PagedTaskVersionsSchema]) },
    handler: async ({ api, params, query, request, reply }) =>
      sendList(request, reply, await api.tasks.versions(params.id, pageOf(query))),
  }),
  route({
    method: 'GET',
    path: '/api/tasks/:id/versions/:version',
    scope: 'read',
    summary: 'One version of a task, how it differs, and what restoring it would change',
    query: { against: Type.Optional(against) },
    answers: { 200: TaskVersionDetailSchema },
    handler: ({ api, params, query }) => api.tasks.version(params.id, Number(params.version), query.against),
  }),
  route({
    method: 'POST',
    path: '/api/tasks/:id/versions/:version/restore',
    scope: 'operate',
    summary: 'Make an older version of a task the newest, or preview the change',
    query: { dryRun: Type.Optional(Flag), ...NOTE },
    isConditional: true,
    answers: { 200: Type.Union([TaskEntitySchema, ReloadPreviewSchema]) },
    handler: async ({ api, params: { id, version }, query: { dryRun = false, note }, request, reply }) => {
      if (dryRun) return (await api.tasks.version(id, Number(version))).restoring
      const condition = await revisionCondition(request, () => api.tasks.get(id))
      const options = { ...condition, ...(note !== undefined && { note }) }
      return withTag(reply, await api.tasks.restore(id, Number(version), options))
    },
  }),
]
