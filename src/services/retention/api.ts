/** Routes of retention. */
import type { FastifyInstance } from 'fastify'
import { addRoutes, revisionCondition, routesOf, withTag } from '#services/shared'
import type { RetentionApi, RetentionService } from './contract.ts'
import { ErrorSchema, RulesBody, StatusSchema, StoredRulesSchema } from './retention-schema.ts'

const route = routesOf<RetentionApi>()

const ROUTES = [
  route({
    method: 'GET',
    path: '/retention/v1/rules',
    scope: 'read',
    summary: 'How long data of the tenant is kept',
    answers: { 200: StoredRulesSchema },
    handler: async ({ api, reply }) => withTag(reply, await api.rules()),
  }),
  route({
    method: 'PUT',
    path: '/retention/v1/rules',
    scope: 'admin',
    summary: 'Replace the rules; data that is older than its rule is then deleted in the background',
    body: RulesBody,
    answers: { 200: StoredRulesSchema },
    isConditional: true,
    handler: async ({ api, body, request, reply }) =>
      withTag(reply, await api.setRules(body, await revisionCondition(request, () => api.rules()))),
  }),
  route({
    method: 'GET',
    path: '/retention/v1/status',
    scope: 'read',
    summary: 'Progress of the deletion',
    answers: { 200: StatusSchema },
    handler: ({ api }) => api.status(),
  }),
]

export function retentionRoutes(app: FastifyInstance, { service }: { service: RetentionService }): Promise<void> {
  return addRoutes(app, service, { tag: 'retention', errors: ErrorSchema, routes: ROUTES })
}
