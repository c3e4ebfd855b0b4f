/** Routes of templates. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { RulesService, TemplateRun, TemplateRunOptions, TemplateSpecification } from '../contract.ts'
import { GraphFormatSchema } from '../shared-schema.ts'
import {
  CreatedTemplateSchema,
  PagedTemplateVersionsSchema,
  TemplateEntitySchema,
  TemplateSpecificationSchema,
  TemplateUpgradeSchema,
  TemplateVersionSchema,
  UpgradedTemplatesSchema,
  type TemplateUpgrade,
} from '../templates/template-schema.ts'
import { TemplateRunSchema } from '../tools/tools-schema.ts'
import { LOG_LEVELS } from '../words.ts'
import { readFormat, readPaging, readTemplateFilter, TAG_PARAMETERS } from './read-filters.ts'
import { Flag, revisionCondition, sendLines, Text, Texts, untilClosed, Whole, withTag } from '#services/shared'
import { CHECKS, described, describedWork, handle, readChecks, Version, type RequestContext } from './route-parts.ts'
import { sendList } from './send-list.ts'

const format = { format: Type.Optional(GraphFormatSchema) }
const paging = { startIndex: Type.Optional(Whole), hits: Type.Optional(Whole) }
const entity = { answers: { 200: TemplateEntitySchema } }
const filters = {
  filter: Type.Optional(Text),
  name: Type.Optional(Text),
  ids: Type.Optional(Texts),
  id: Type.Optional(Texts),
  plugin: Type.Optional(Text),
  tags: Type.Optional(Texts),
}

export function templateRoutes(app: FastifyInstance, service: RulesService): void {
  app.post(
    '/api/templates',
    described({
      summary: 'Store a template',
      body: TemplateSpecificationSchema,
      query: CHECKS,
      answers: { 201: CreatedTemplateSchema },
    }),
    handle(service, async ({ api, query, body, reply }) => {
      const created = await api.templates.create(body as TemplateSpecification, readChecks(query))
      withTag(reply, created.entity)
      return reply.code(201).header('location', created.uri).send(created)
    }),
  )
  app.get(
    '/api/templates',
    described({
      summary: 'List and search templates, by name',
      otherQuery: TAG_PARAMETERS,
      query: {
        ...filters,
        ...format,
        ...paging,
        includegraph: Type.Optional(Flag),
      },
      answers: { 200: Type.Array(TemplateEntitySchema) },
    }),
    handle(service, async ({ api, query, request, reply }) => {
      const where = readTemplateFilter(query)
      const paged = readPaging(query)
      const wanted = readFormat(query) ?? 'bn'
      const includeGraph = query.flag('includegraph') ?? false
      query.done()
      return sendList(request, reply, await api.templates.list({ where, ...paged, format: wanted, includeGraph }))
    }),
  )
  app.patch(
    '/api/templates',
    described({
      summary: 'Raise the versions of plugs in templates',
      query: filters,
      otherQuery: TAG_PARAMETERS,
      body: TemplateUpgradeSchema,
      answers: { 200: UpgradedTemplatesSchema },
    }),
    handle(service, async ({ api, query, body, reply }) => {
      const where = readTemplateFilter(query)
      query.done()
      const outcome = await api.templates.upgrade(where, body as TemplateUpgrade)
      return reply.code(outcome.failed === undefined ? 200 : 400).send(outcome)
    }),
  )
  app.get(
    '/api/templates/:name',
    described({
      summary: 'One template, as it is or as it was in an older version',
      params: ['name'],
      query: { ...format, version: Type.Optional(Version) },
      ...entity,
    }),
    handle(service, async ({ api, query, param, reply }) => {
      const wanted = readFormat(query)
      const version = query.integer('version', { least: 1 })
      query.done()
      return withTag(reply, await api.templates.get(param('name'), wanted, version))
    }),
  )
  app.get(
    '/api/templates/:name/versions',
    described({
      summary: 'The versions of a template that are kept, newest first',
      params: ['name'],
      query: paging,
      answers: { 200: Type.Union([Type.Array(TemplateVersionSchema), PagedTemplateVersionsSchema]) },
    }),
    handle(service, async ({ api, query, param, request, reply }) => {
      const page = readPaging(query)
      query.done()
      return sendList(request, reply, await api.templates.versions(param('name'), page))
    }),
  )
  app.put(
    '/api/templates/:name',
    described({
      summary: 'Replace a template',
      params: ['name'],
      body: TemplateSpecificationSchema,
      query: CHECKS,
      isConditional: true,
      ...entity,
    }),
    handle(service, async ({ api, param, query, body, request, reply }) => {
      const checks = readChecks(query)
      const condition = await revisionCondition(request, () => api.templates.get(param('name')))
      const options = { ...checks, ...condition }
      return withTag(reply, await api.templates.replace(param('name'), body as TemplateSpecification, options))
    }),
  )
  app.delete(
    '/api/templates/:name',
    described({
      summary: 'Delete a template that no task uses',
      params: ['name'],
      isConditional: true,
      answers: { 204: Type.Null() },
    }),
    handle(service, async ({ api, param, request, reply }) => {
      const condition = await revisionCondition(request, () => api.templates.get(param('name')))
      await api.templates.remove(param('name'), condition)
      return reply.code(204).send()
    }),
  )
  app.patch(
    '/api/templates/:name',
    described({ summary: 'Copy a template', params: ['name'], query: { newName: Text }, ...entity }),
    handle(service, ({ api, query, param }) => {
      const newName = query.text('newName')
      if (newName === undefined) query.missing('newName', 'write newName=<name of the copy>')
      query.done()
      return api.templates.copy(param('name'), newName ?? '')
    }),
  )
  discoveryRoutes(app, service)
  runRoutes(app, service)
}

function discoveryRoutes(app: FastifyInstance, service: RulesService): void {
  app.get(
    '/api/discoveryTemplate',
    described({ summary: 'The template that discovery uses', query: format, ...entity }),
    handle(service, ({ api, query }) => {
      const wanted = readFormat(query)
      query.done()
      return api.templates.discovery(wanted)
    }),
  )
  app.put(
    '/api/discoveryTemplate',
    described({
      summary: 'Choose the template that discovery uses',
      query: { name: Text },
      answers: { 204: Type.Null() },
    }),
    handle(service, async ({ api, query, reply }) => {
      const name = query.text('name')
      if (name === undefined) query.missing('name', 'write name=<name of a template>')
      query.done()
      await api.templates.setDiscovery(name ?? '')
      return reply.code(204).send()
    }),
  )
}

function runRoutes(app: FastifyInstance, service: RulesService): void {
  const run = {
    body: TemplateRunSchema,
    query: {
      logLevel: Type.Optional(Type.Enum(LOG_LEVELS)),
      targetNode: Type.Optional(Text),
      maxTps: Type.Optional(Whole),
    },
    produces: ['application/x-ndjson'],
  }
  const stored = { params: ['name'] }
  const version = { version: Type.Optional(Version) }
  const debug = { ...run, query: { logLevel: run.query.logLevel, nodeToDebug: Text } }
  app.post(
    '/api/templates/run',
    describedWork({ summary: 'Run the graph in the body; nothing is stored', ...run }),
    handle(service, (context) => sendRun(context, undefined, {})),
  )
  app.post(
    '/api/templates/:name/run',
    describedWork({
      summary: 'Run a template once, or over data',
      ...stored,
      ...run,
      query: { ...run.query, ...version },
    }),
    handle(service, (context) => sendRun(context, context.param('name'), {})),
  )
  app.post(
    '/api/templates/debug',
    describedWork({ summary: 'Run one node of the graph in the body', ...debug }),
    handle(service, (context) => sendRun(context, undefined, nodeToDebug(context))),
  )
  app.post(
    '/api/templates/:name/debug',
    describedWork({
      summary: 'Run one node of a template',
      ...stored,
      ...debug,
      query: { ...debug.query, ...version },
    }),
    handle(service, (context) => sendRun(context, context.param('name'), nodeToDebug(context))),
  )
}

function nodeToDebug({ query }: RequestContext): TemplateRunOptions {
  const node = query.text('nodeToDebug')
  if (node === undefined) query.missing('nodeToDebug', 'write nodeToDebug=<label of a node>')
  return { nodeToDebug: node ?? '' }
}

function sendRun({ api, query, body, reply }: RequestContext, name: string | undefined, more: TemplateRunOptions) {
  const logLevel = query.oneOf('logLevel', LOG_LEVELS)
  const targetNode = query.text('targetNode')
  const maxTps = query.number('maxTps')
  const version = name === undefined ? undefined : query.integer('version', { least: 1 })
  query.done()
  const reports = api.templates.run(name, body as TemplateRun, {
    ...more,
    ...(logLevel && { logLevel }),
    ...(targetNode !== undefined && { targetNode }),
    ...(maxTps !== undefined && maxTps > 0 && { maxTps }),
    ...(version !== undefined && { version }),
    signal: untilClosed(reply),
  })
  return sendLines(reply, reports)
}
