/** HTTP routes that need no stored task: plugs, data push, simulation, next runs. */
import { Type } from 'typebox'
import { AppError, makeIssue, refuse } from '#kernel'
import { routesOf } from '#services/shared'
import { instant } from '#services/shared/contract'
import type { RulesApi } from '../contract.ts'
import { AnyObject, ErrorBodySchema, Text, unread } from '../shared-schema.ts'
import {
  CheckedRuleSchema,
  DataPush,
  PlugCall,
  type PlugFamily,
  PlugOutcomeSchema,
  RuleCheck,
  Simulation,
} from './tools-schema.ts'

const FoundVariableSchema = Type.Object(
  { name: Text, type: Text, format: Type.Optional(Type.Object({ type: Text })) },
  { additionalProperties: true, title: 'FoundVariable' },
)

const route = routesOf<RulesApi>()

export const TOOL_ROUTES = [
  ...plugRoutes('sensors', 'sensor'),
  ...plugRoutes('actions', 'actuator'),
  route({
    method: 'POST',
    path: '/api/data',
    scope: 'operate',
    summary: 'Pass data or states to the running tasks of a resource, without the broker',
    body: unread<DataPush>(DataPush.schema),
    answers: { 200: AnyObject },
    handler: ({ api, body }) => api.tools.push(body),
  }),
  route({
    method: 'POST',
    path: '/api/rules/check',
    scope: 'read',
    summary: 'All problems of a rule or template, with corrections; nothing is stored',
    body: unread<RuleCheck>(RuleCheck.schema),
    answers: { 200: CheckedRuleSchema },
    handler: ({ api, body }) => api.tools.check(body),
  }),
  route({
    method: 'POST',
    path: '/api/variableDeclarations',
    scope: 'read',
    summary: 'The variables that a graph reads, declared or not',
    body: unread<unknown>(AnyObject),
    server: { config: { takesBytes: true } },
    answers: { 200: Type.Array(FoundVariableSchema, { title: 'FoundVariables' }) },
    handler: ({ api, body }) => api.tools.variables(body),
  }),
  route({
    method: 'POST',
    path: '/api/tasks/simulate',
    scope: 'author',
    summary: 'Run a rule over messages in virtual time; nothing is stored',
    body: unread<Simulation | Uint8Array>(Simulation.schema),
    server: { config: { takesBytes: true } },
    answers: { 200: AnyObject },
    handler: async ({ api, body, reply }) => {
      const answer = await api.tools.simulate(body)
      return answer instanceof Uint8Array ? reply.type('application/json; charset=utf-8').send(answer) : answer
    },
  }),
  route({
    method: 'GET',
    path: '/api/schedules/next',
    scope: 'read',
    summary: 'The next runs of a cron expression or recurrence rule, and the effect of clock changes',
    query: {
      expression: Type.Optional(Type.String({ description: 'alias: cron or rrule' })),
      cron: Type.Optional(Type.String({ description: 'a cron expression, instead of `expression`' })),
      rrule: Type.Optional(Type.String({ description: 'a recurrence rule, instead of `expression`' })),
      zone: Type.Optional(Type.String({ description: 'alias: timeZone; default UTC' })),
      timeZone: Type.Optional(Type.String({ description: 'instead of `zone`' })),
      from: Type.Optional(instant),
      n: Type.Optional(Type.Integer({ minimum: 1, description: 'alias: count' })),
      count: Type.Optional(Type.Integer({ minimum: 1, description: 'instead of `n`' })),
      gap: Type.Optional(Type.Enum(['shift', 'skip'], { description: 'handling of a time that clocks skip' })),
      overlap: Type.Optional(
        Type.Enum(['first', 'second', 'both'], { description: 'handling of a time that occurs twice' }),
      ),
    },
    answers: { 200: AnyObject },
    handler: ({ api, query }) => {
      const { expression, cron, rrule, zone, timeZone, n, count = n, ...others } = query
      const expressions = Object.entries({ expression, cron, rrule }).filter(([, text]) => (text ?? '') !== '')
      const [[, first = ''] = [], [second] = []] = expressions
      if (first === '')
        throw refuse('the query', [makeIssue('QUERY', '/expression', 'is missing', 'write expression=<cron or rrule>')])
      if (second !== undefined) {
        const message = 'duplicates the expression'
        throw refuse('the query', [makeIssue('QUERY', `/${second}`, message, 'keep one of expression, cron and rrule')])
      }
      const timeZoneId = zone === undefined || zone === '' ? timeZone : zone
      return api.tools.nextRuns({
        expression: first,
        ...others,
        ...(timeZoneId !== undefined && timeZoneId !== '' && { zone: timeZoneId }),
        ...((n ?? count) !== undefined && { count: n ?? count }),
      })
    },
  }),
]

function plugRoutes(family: PlugFamily, kind: string) {
  const list = { 200: Type.Array(AnyObject) }
  const one = { 200: AnyObject }
  const path = `/api/${family}/:name` as const
  const call = {
    method: 'POST',
    scope: 'operate',
    body: unread<PlugCall>(PlugCall.schema),
    server: { config: { takesBytes: true } },
    answers: {
      200: PlugOutcomeSchema,
      400: Type.Union([PlugOutcomeSchema, ErrorBodySchema], { title: 'PlugRefusal' }),
    },
  } as const
  return [
    route({
      method: 'GET',
      path: `/api/${family}`,
      scope: 'read',
      summary: `Every ${kind} plug, in its newest version`,
      answers: list,
      handler: ({ api }) => api.tools.plugs(family),
    }),
    route({
      method: 'GET',
      path,
      scope: 'read',
      summary: `The newest version of a ${kind} plug`,
      answers: one,
      handler: ({ api, params }) => api.tools.plug(family, params.name),
    }),
    route({
      method: 'GET',
      path: `${path}/versions`,
      scope: 'read',
      summary: `All versions of a ${kind} plug, newest first`,
      answers: list,
      handler: ({ api, params }) => api.tools.versions(family, params.name),
    }),
    route({
      method: 'GET',
      path: `${path}/versions/:version`,
      scope: 'read',
      summary: `One version of a ${kind} plug`,
      answers: one,
      handler: ({ api, params }) => api.tools.plug(family, params.name, params.version),
    }),
    route({
      method: 'GET',
      path: `${path}/versions/:version/script`,
      scope: 'read',
      summary: `The script of a ${kind} plug, if it has one`,
      answers: { 200: Type.String({ description: 'its source' }) },
      produces: ['text/plain'],
      handler: async ({ api, params }) => {
        const plug = await api.tools.plug(family, params.name, params.version)
        throw new AppError('NOT_FOUND', `${plug.name}:${plug.version} is part of this host and has no script`)
      },
    }),
    route({
      ...call,
      path,
      summary: `Run the newest version of a ${kind} plug once`,
      handler: async ({ api, params: { name }, body, reply }) => {
        const outcome = await api.tools.call(family, name, undefined, body ?? {})
        return reply.code(outcome.result ? 200 : 400).send(outcome)
      },
    }),
    route({
      ...call,
      path: `${path}/versions/:version`,
      summary: `Run one version of a ${kind} plug once`,
      handler: async ({ api, params: { name, version }, body, reply }) => {
        const outcome = await api.tools.call(family, name, version, body ?? {})
        return reply.code(outcome.result ? 200 : 400).send(outcome)
      },
    }),
  ]
}
