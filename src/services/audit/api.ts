/** Routes of the audit. */
import type { FastifyInstance } from 'fastify'
import { addRoutes, NDJSON_MEDIA_TYPE, routesOf, sendLines } from '#services/shared'
import type { AuditApi, AuditService } from './contract.ts'
import { EntriesSchema, ErrorSchema, FILTER, PAGED } from './entry-schema.ts'

const route = routesOf<AuditApi>()

const ROUTES = [
  route({
    method: 'GET',
    path: '/audit/v1/entries',
    scope: 'admin',
    summary: 'Who changed what, from where, oldest first',
    query: PAGED,
    answers: { 200: EntriesSchema },
    handler: ({ api, query }) => api.entries(query),
  }),
  route({
    method: 'GET',
    path: '/audit/v1/export',
    scope: 'admin',
    summary: 'All entries, one line of JSON each',
    query: FILTER,
    produces: [NDJSON_MEDIA_TYPE],
    handler: ({ api, query, reply }) => sendLines(reply, api.exported(query)),
  }),
]

export function auditRoutes(app: FastifyInstance, { service }: { service: AuditService }): Promise<void> {
  return addRoutes(app, service, { tag: 'audit', errors: ErrorSchema, routes: ROUTES })
}
