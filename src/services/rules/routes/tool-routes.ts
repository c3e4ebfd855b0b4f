/** Routes that need no stored task: plugs, data push, simulation, next runs. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '#kernel'
import type { DataPush, PlugFamily, RulesService, Simulation } from '../contract.ts'
import { AnyObject, ErrorBodySchema } from '../shared-schema.ts'
import { PlugCallSchema, PlugOutcomeSchema, SimulationSchema } from '../tools/tools-schema.ts'
import { described, describedWork, handle, type RequestContext } from './route-parts.ts'

const FoundVariableSchema = Type.Object(
  { name: Type.String(), type: Type.String(), format: Type.Optional(Type.Object({ type: Type.String() })) },
  { additionalProperties: true, title: 'FoundVariable' },
)
const EXPRESSIONS = ['expression', 'cron', 'rrule'] as const
const KEEP_ONE = 'keep one of expression, cron and rrule'

export function toolRoutes(app: FastifyInstance, service: RulesService): void {
  plugRoutes(app, service, 'sensors', 'sensor')
  plugRoutes(app, service, 'actions', 'actuator')
  app.post(
    '/api/data',
    described({
      summary: 'Hand data or states to the running tasks of a resource, past the broker',
      body: AnyObject,
      answers: { 200: AnyObject },
    }),
    handle(service, ({ api, body }) => api.tools.push(body as DataPush)),
  )
  app.post(
    '/api/variableDeclarations',
    describedWork({
      summary: 'The variables that a graph reads, declared or not',
      body: AnyObject,
      answers: { 200: Type.Array(FoundVariableSchema, { title: 'FoundVariables' }) },
    }),
    handle(service, ({ api, body }) => api.tools.variables(body)),
  )
  app.post(
    '/api/tasks/simulate',
    describedWork({
      summary: 'Run a rule over messages in virtual time; nothing is stored',
      body: SimulationSchema,
      answers: { 200: AnyObject },
    }),
    handle(service, async ({ api, body, reply }) => {
      const answer = await api.tools.simulate(body as Simulation | Uint8Array)
      return answer instanceof Uint8Array ? reply.type('application/json; charset=utf-8').send(answer) : answer
    }),
  )
  app.get(
    '/api/schedules/next',
    described({
      summary: 'The next runs of a cron expression or recurrence rule, and what changes of the clocks do to it',
      query: {
        expression: Type.Optional(Type.String({ description: 'also as cron or rrule' })),
        cron: Type.Optional(Type.String({ description: 'a cron expression, in place of `expression`' })),
        rrule: Type.Optional(Type.String({ description: 'a recurrence rule, in place of `expression`' })),
        zone: Type.Optional(Type.String({ description: 'also as timeZone; default UTC' })),
        timeZone: Type.Optional(Type.String({ description: 'in place of `zone`' })),
        from: Type.Optional(Type.String({ description: 'epoch ms or ISO 8601; default now' })),
        n: Type.Optional(Type.Integer({ minimum: 1, description: 'also as count' })),
        count: Type.Optional(Type.Integer({ description: 'in place of `n`' })),
        gap: Type.Optional(
          Type.Enum(['shift', 'skip'], { description: 'what becomes of a time that the clocks skip' }),
        ),
        overlap: Type.Optional(
          Type.Enum(['first', 'second', 'both'], { description: 'which of two equal clock times is meant' }),
        ),
      },
      answers: { 200: AnyObject },
    }),
    handle(service, ({ api, query }) => {
      const given = EXPRESSIONS.filter((name) => query.text(name) !== undefined)
      const [first = 'expression', second] = given
      const expression = query.text(first)
      if (expression === undefined) query.missing('expression', 'write expression=<cron or rrule>')
      if (second !== undefined) query.wrong(second, 'there is an expression already', KEEP_ONE)
      const zone = query.text('zone') ?? query.text('timeZone')
      const from = query.time('from')
      const count = query.integer('n', { least: 1 }) ?? query.integer('count', { least: 1 })
      const gap = query.oneOf('gap', ['shift', 'skip'])
      const overlap = query.oneOf('overlap', ['first', 'second', 'both'])
      query.done()
      return api.tools.nextRuns({
        expression: expression ?? '',
        ...(zone !== undefined && { zone }),
        ...(from !== undefined && { from }),
        ...(count !== undefined && { count }),
        ...(gap && { gap }),
        ...(overlap && { overlap }),
      })
    }),
  )
}

function plugRoutes(app: FastifyInstance, service: RulesService, family: PlugFamily, kind: string): void {
  const list = { answers: { 200: Type.Array(AnyObject) } }
  const one = { answers: { 200: AnyObject } }
  app.get(
    `/api/${family}`,
    described({ summary: `Every ${kind} plug, in its newest version`, ...list }),
    handle(service, ({ api }) => api.tools.plugs(family)),
  )
  app.get(
    `/api/${family}/:name`,
    described({ summary: `The newest version of a ${kind} plug`, params: ['name'], ...one }),
    handle(service, ({ api, param }) => api.tools.plug(family, param('name'))),
  )
  app.get(
    `/api/${family}/:name/versions`,
    described({ summary: `All versions of a ${kind} plug, newest first`, params: ['name'], ...list }),
    handle(service, ({ api, param }) => api.tools.versions(family, param('name'))),
  )
  app.get(
    `/api/${family}/:name/versions/:version`,
    described({ summary: `One version of a ${kind} plug`, params: ['name', 'version'], ...one }),
    handle(service, ({ api, param }) => api.tools.plug(family, param('name'), param('version'))),
  )
  app.get(
    `/api/${family}/:name/versions/:version/script`,
    described({
      summary: `The script of a ${kind} plug, when it is one`,
      params: ['name', 'version'],
      answers: { 200: Type.String({ description: 'its source' }) },
      produces: ['text/plain'],
    }),
    handle(service, async ({ api, param }) => {
      const plug = await api.tools.plug(family, param('name'), param('version'))
      throw new AppError('NOT_FOUND', `${plug.name}:${plug.version} is part of this host and has no script`)
    }),
  )
  const call = {
    body: PlugCallSchema,
    answers: {
      200: PlugOutcomeSchema,
      400: Type.Union([PlugOutcomeSchema, ErrorBodySchema], { title: 'PlugRefusal' }),
    },
  }
  app.post(
    `/api/${family}/:name`,
    describedWork({ summary: `Run the newest version of a ${kind} plug once`, params: ['name'], ...call }),
    handle(service, (context) => callPlug(context, family)),
  )
  app.post(
    `/api/${family}/:name/versions/:version`,
    describedWork({ summary: `Run one version of a ${kind} plug once`, params: ['name', 'version'], ...call }),
    handle(service, (context) => callPlug(context, family, context.param('version'))),
  )
}

async function callPlug(
  { api, body, param, reply }: RequestContext,
  family: PlugFamily,
  version?: string,
): Promise<unknown> {
  const outcome = await api.tools.call(family, param('name'), version, body ?? {})
  return reply.code(outcome.result ? 200 : 400).send(outcome)
}
