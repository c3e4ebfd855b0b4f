/** Routes of imports and exports. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { routesOf } from '#services/shared'
import { addObjectRoutes, originOf } from '../api-parts.ts'
import { BASE, bucketHref } from '../show.ts'
import { EXPORT_BUCKET } from './export-jobs.ts'
import { IMPORT_BUCKET, REPORT_SUFFIX } from './import-jobs.ts'
import {
  type ExportInfo,
  ExportRequest,
  ExportSchema,
  ExportsSchema,
  type ImportInfo,
  ImportSchema,
  ImportsSchema,
  TRANSFER_QUERY,
} from './transfer-schema.ts'
import type { Transfers } from './transfers.ts'

const route = routesOf<ReturnType<Transfers['as']>>()

const ROUTES = [
  route({
    method: 'GET',
    path: `${BASE}/import`,
    operation: { operationId: 'getImports' },
    scope: 'read',
    summary: 'Imports of files into series, newest first',
    query: TRANSFER_QUERY,
    answers: { 200: ImportsSchema },
    handler: async ({ api, query, request }) => {
      const imports = await api.imports(query)
      return { _links: { self: { href: hrefOf(request, 'import') } }, imports: imports.map(importFor(request)) }
    },
  }),
  route({
    method: 'GET',
    path: `${BASE}/import/:id`,
    operation: { operationId: 'getImport' },
    scope: 'read',
    summary: 'Progress of an import',
    answers: { 200: ImportSchema },
    handler: async ({ api, params, request }) => importFor(request)(await api.import(params.id)),
  }),
  route({
    method: 'POST',
    path: `${BASE}/export`,
    operation: { operationId: 'postExport' },
    scope: 'operate',
    summary: 'Write the result of a query, or the history of a resource, as CSV into etl-export',
    body: ExportRequest,
    answers: { 202: ExportSchema },
    handler: async ({ api, body, request, reply }) => {
      const info = await api.startExport(body)
      return reply.code(202).send(exportFor(request)(info))
    },
  }),
  route({
    method: 'GET',
    path: `${BASE}/export`,
    operation: { operationId: 'getExports' },
    scope: 'read',
    summary: 'Exports of series, newest first',
    query: TRANSFER_QUERY,
    answers: { 200: ExportsSchema },
    handler: async ({ api, query, request }) => {
      const exports = await api.exports(query)
      return { _links: { self: { href: hrefOf(request, 'export') } }, exports: exports.map(exportFor(request)) }
    },
  }),
  route({
    method: 'GET',
    path: `${BASE}/export/:id`,
    operation: { operationId: 'getExport' },
    scope: 'read',
    summary: 'Progress of an export',
    answers: { 200: ExportSchema },
    handler: async ({ api, params, request }) => exportFor(request)(await api.export(params.id)),
  }),
]

export function transferRoutes(app: FastifyInstance, service: Pick<Transfers, 'as'>): Promise<void> {
  return addObjectRoutes(app, service, { tag: 'subscriptions', routes: ROUTES })
}

function importFor(request: FastifyRequest) {
  return (info: ImportInfo): object => {
    const report = bucketHref(originOf(request), IMPORT_BUCKET, info.object + REPORT_SUFFIX)
    const links = info.ended !== undefined && { report: { href: `${report}?sign=GET` } }
    return { _links: { self: { href: hrefOf(request, 'import', info.id) }, ...links }, ...info }
  }
}

function exportFor(request: FastifyRequest) {
  return (info: ExportInfo): object => {
    const file = bucketHref(originOf(request), EXPORT_BUCKET, info.object)
    const links = info.state === 'completed' && { sign_get: { href: `${file}?sign=GET` } }
    return { _links: { self: { href: hrefOf(request, 'export', info.id) }, ...links }, ...info }
  }
}

function hrefOf(request: FastifyRequest, kind: 'import' | 'export', id?: string): string {
  return `${originOf(request)}${BASE}/${kind}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`
}
