/** HTTP routes for roll-outs. */
import { Type } from 'typebox'
import { Flag, linkTo, routesOf } from '#services/shared'
import type { RulesApi } from '../contract.ts'
import { PAGING, pageOf, sendList } from '../listing.ts'
import { unread } from '../shared-schema.ts'
import {
  PagedRolloutsSchema,
  RolloutPreviewSchema,
  RolloutRequest,
  RolloutSchema,
  RolloutSummarySchema,
} from './rollout-schema.ts'

const route = routesOf<RulesApi>()
const dryRun = { dryRun: Type.Optional(Flag) }
const shown = { 200: Type.Union([RolloutSchema, RolloutPreviewSchema]) }

export const ROLLOUT_ROUTES = [
  route({
    method: 'POST',
    path: '/api/templates/:name/rollouts',
    scope: 'author',
    summary: 'Try a version beside the live one, or move tasks to it; without mode=shadow it needs the scope publish',
    query: dryRun,
    body: unread<RolloutRequest>(RolloutRequest.schema),
    answers: { 200: RolloutPreviewSchema, 201: RolloutSchema },
    handler: async ({ api, params: { name }, query, body, request, reply }) => {
      if (query.dryRun === true) return api.rollouts.preview(name, body)
      const made = await api.rollouts.create(name, body)
      const path = `/api/templates/${encodeURIComponent(name)}/rollouts/${encodeURIComponent(made.id)}`
      return reply.code(201).header('location', linkTo(request, path)).send(made)
    },
  }),
  route({
    method: 'GET',
    path: '/api/templates/:name/rollouts',
    scope: 'read',
    summary: 'The roll-outs of a template, newest first',
    query: PAGING,
    answers: { 200: Type.Union([Type.Array(RolloutSummarySchema), PagedRolloutsSchema]) },
    handler: async ({ api, params, query, request, reply }) =>
      sendList(request, reply, await api.rollouts.list(params.name, pageOf(query))),
  }),
  route({
    method: 'GET',
    path: '/api/templates/:name/rollouts/:id',
    scope: 'read',
    summary: 'A roll-out: its tasks, and how the firings of its version differ',
    answers: { 200: RolloutSchema },
    handler: ({ api, params }) => api.rollouts.get(params.name, params.id),
  }),
  route({
    method: 'POST',
    path: '/api/templates/:name/rollouts/:id/promote',
    scope: 'publish',
    summary: 'Publish the version and move all tasks to it, or preview which state they would lose',
    query: dryRun,
    answers: shown,
    handler: ({ api, params: { name, id }, query }) =>
      query.dryRun === true ? api.rollouts.previewPromote(name, id) : api.rollouts.promote(name, id),
  }),
  route({
    method: 'POST',
    path: '/api/templates/:name/rollouts/:id/rollback',
    scope: 'author',
    summary: 'End a roll-out and move its tasks back; only a running shadow does not need the scope publish',
    query: dryRun,
    answers: shown,
    handler: ({ api, params: { name, id }, query }) =>
      query.dryRun === true ? api.rollouts.previewRollback(name, id) : api.rollouts.rollback(name, id),
  }),
]
