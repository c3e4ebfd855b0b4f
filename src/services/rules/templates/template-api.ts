/** HTTP routes for templates. */
import { type TProperties, Type } from 'typebox'
import { Flag, linkTo, revisionCondition, routesOf, sendLines, untilClosed, withTag } from '#services/shared'
import type { RulesApi } from '../contract.ts'
import { FORMAT, PAGING, pageOf, sendList, TAG_PARAMETERS, TEMPLATE_LISTING, templateListing } from '../listing.ts'
import { LOG_LEVELS, unread, Version } from '../shared-schema.ts'
import { REHEARSE } from '../rehearsals/rehearsal-schema.ts'
import { TemplateRun, type TemplateRunOptions } from '../tools/tools-schema.ts'
import {
  CreatedTemplateSchema,
  PagedTemplateVersionsSchema,
  TemplateEntitySchema,
  type TemplateSpecification,
  TemplateSpecificationSchema,
  TemplateUpgrade,
  TemplateVersionSchema,
  UpgradedTemplatesSchema,
} from './template-schema.ts'

export const CHECKS = {
  failOnWarning: Type.Optional(Flag),
  strict: Type.Optional(Flag),
  returnWarnings: Type.Optional(Flag),
}

const DRAFT = {
  draft: Type.Optional(
    Type.Boolean({ description: 'store a version that runs only in rehearsals and roll-outs until it is published' }),
  ),
  note: Type.Optional(Type.String({ maxLength: 2_000, description: 'why the version is made' })),
}

const route = routesOf<RulesApi>()
const specification = unread<TemplateSpecification>(TemplateSpecificationSchema)
const entity = { 200: TemplateEntitySchema }
const name = Type.String({ minLength: 1 })
const nodeToDebug = { nodeToDebug: name }
const version = { version: Type.Optional(Version) }
const run = {
  logLevel: Type.Optional(Type.Enum(LOG_LEVELS)),
  targetNode: Type.Optional(Type.String()),
  maxTps: Type.Optional(Type.Number({ description: 'invocations per second; 0 or less: unlimited' })),
}

export const TEMPLATE_ROUTES = [
  route({
    method: 'POST',
    path: '/api/templates',
    scope: 'author',
    summary: 'Store a template; without draft=true it needs the scope publish',
    body: specification,
    query: { ...CHECKS, ...DRAFT },
    answers: { 201: CreatedTemplateSchema },
    handler: async ({ api, query, body, request, reply }) => {
      const created = await api.templates.create(body, query)
      withTag(reply, created.entity)
      const uri = linkTo(request, created.uri)
      return reply
        .code(201)
        .header('location', uri)
        .send({ ...created, uri })
    },
  }),
  route({
    method: 'GET',
    path: '/api/templates',
    scope: 'read',
    summary: 'List and search templates, by name',
    query: { ...TEMPLATE_LISTING, ...FORMAT, ...PAGING, includegraph: Type.Optional(Flag) },
    otherQuery: TAG_PARAMETERS,
    answers: { 200: Type.Array(TemplateEntitySchema) },
    handler: async ({ api, request, reply }) => {
      const { format = 'bn', includegraph: includeGraph = false, ...query } = templateListing(request.query)
      return sendList(request, reply, await api.templates.list({ ...query, format, includeGraph }))
    },
  }),
  route({
    method: 'PATCH',
    path: '/api/templates',
    scope: 'publish',
    summary: 'Raise the versions of plugs in templates',
    query: TEMPLATE_LISTING,
    otherQuery: TAG_PARAMETERS,
    body: TemplateUpgrade,
    answers: { 200: UpgradedTemplatesSchema },
    handler: async ({ api, body, request, reply }) => {
      const outcome = await api.templates.upgrade(templateListing(request.query).where, body)
      return reply.code(outcome.failed === undefined ? 200 : 400).send(outcome)
    },
  }),
  route({
    method: 'GET',
    path: '/api/templates/:name',
    scope: 'read',
    summary: 'One template, in its current or an older version',
    query: { ...FORMAT, ...version },
    answers: entity,
    handler: async ({ api, params, query: { format, version }, reply }) =>
      withTag(reply, await api.templates.get(params.name, format, version)),
  }),
  route({
    method: 'GET',
    path: '/api/templates/:name/versions',
    scope: 'read',
    summary: 'The kept versions of a template, newest first',
    query: PAGING,
    answers: { 200: Type.Union([Type.Array(TemplateVersionSchema), PagedTemplateVersionsSchema]) },
    handler: async ({ api, params, query, request, reply }) =>
      sendList(request, reply, await api.templates.versions(params.name, pageOf(query))),
  }),
  route({
    method: 'PUT',
    path: '/api/templates/:name',
    scope: 'author',
    summary: 'Replace a template, or store a draft; without draft=true it needs the scope publish',
    body: specification,
    query: { ...CHECKS, ...DRAFT, ...REHEARSE },
    isConditional: true,
    answers: entity,
    handler: async ({ api, params, query, body, request, reply }) => {
      const condition = await revisionCondition(request, () => api.templates.get(params.name))
      const options = { ...query, ...condition }
      return withTag(reply, await api.templates.replace(params.name, body, options))
    },
  }),
  route({
    method: 'POST',
    path: '/api/templates/:name/versions/:version/publish',
    scope: 'publish',
    summary: 'Make a draft the version of which new tasks are made; running tasks stay as they are',
    isConditional: true,
    answers: entity,
    handler: async ({ api, params, request, reply }) => {
      const condition = await revisionCondition(request, () => api.templates.get(params.name))
      return withTag(reply, await api.templates.publish(params.name, Number(params.version), condition))
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/templates/:name',
    scope: 'publish',
    summary: 'Delete an unused template',
    isConditional: true,
    answers: { 204: Type.Null() },
    handler: async ({ api, params, request }) => {
      const condition = await revisionCondition(request, () => api.templates.get(params.name))
      await api.templates.remove(params.name, condition)
    },
  }),
  route({
    method: 'PATCH',
    path: '/api/templates/:name',
    scope: 'publish',
    summary: 'Copy a template',
    query: { newName: name },
    answers: entity,
    handler: ({ api, params, query }) => api.templates.copy(params.name, query.newName),
  }),
  route({
    method: 'GET',
    path: '/api/discoveryTemplate',
    scope: 'read',
    summary: 'The template that discovery uses',
    query: FORMAT,
    answers: entity,
    handler: ({ api, query }) => api.templates.discovery(query.format),
  }),
  route({
    method: 'PUT',
    path: '/api/discoveryTemplate',
    scope: 'publish',
    summary: 'Choose the template that discovery uses',
    query: { name },
    answers: { 204: Type.Null() },
    handler: ({ api, query }) => api.templates.setDiscovery(query.name),
  }),
  runRoute('/api/templates/run', 'Run the graph in the body; nothing is stored', run),
  runRoute('/api/templates/:name/run', 'Run a template once, or over data', { ...run, ...version }),
  runRoute('/api/templates/debug', 'Run one node of the graph in the body', { logLevel: run.logLevel, ...nodeToDebug }),
  runRoute('/api/templates/:name/debug', 'Run one node of a template', {
    logLevel: run.logLevel,
    ...nodeToDebug,
    ...version,
  }),
]

function runRoute(path: string, summary: string, query: TProperties) {
  return route({
    method: 'POST',
    path,
    scope: 'author',
    summary,
    body: unread<TemplateRun>(TemplateRun.schema),
    query,
    server: { config: { takesBytes: true } },
    produces: ['application/x-ndjson'],
    handler: ({ api, params, query, body, reply }) => {
      const { maxTps = 0, targetNode = '', ...others } = query as TemplateRunOptions
      const options = { ...others, ...(targetNode !== '' && { targetNode }), ...(maxTps > 0 && { maxTps }) }
      const { name } = params as { readonly name?: string }
      return sendLines(reply, api.templates.run(name, body, { ...options, signal: untilClosed(reply) }))
    },
  })
}
