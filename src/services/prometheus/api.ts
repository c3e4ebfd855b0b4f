/** Routes of queries in PromQL, with paths, forms and errors of Prometheus. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { addRoutes, type Refusal, routesOf } from '#services/shared'
import type { PrometheusApi, PrometheusService } from './contract.ts'
import {
  AnswerSchema,
  ErrorSchema,
  INSTANT,
  InstantForm,
  MATCH,
  MatchForm,
  NEEDED_MATCH,
  NeededMatchForm,
  RANGE,
  RangeForm,
} from './prometheus-schema.ts'

const FORM = 'application/x-www-form-urlencoded'

const route = routesOf<PrometheusApi>()

const shared = { scope: 'read', answers: { 200: AnswerSchema } } as const
const ROUTES = [
  route({
    ...shared,
    method: 'GET',
    path: '/prometheus/api/v1/query',
    summary: 'Values of a query in PromQL at one time',
    query: INSTANT,
    handler: ({ api, query }) => api.query(query),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/prometheus/api/v1/query',
    summary: 'Values of a query in PromQL at one time, with parameters in a form',
    body: InstantForm,
    consumes: [FORM],
    handler: ({ api, body: form }) => api.query(form),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/prometheus/api/v1/query_range',
    summary: 'Values of a query in PromQL over a range of times',
    query: RANGE,
    handler: ({ api, query }) => api.queryRange(query),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/prometheus/api/v1/query_range',
    summary: 'Values of a query in PromQL over a range of times, with parameters in a form',
    body: RangeForm,
    consumes: [FORM],
    handler: ({ api, body: form }) => api.queryRange(form),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/prometheus/api/v1/series',
    summary: 'Labels of the series that match selectors',
    query: NEEDED_MATCH,
    handler: ({ api, query }) => api.series(query),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/prometheus/api/v1/series',
    summary: 'Labels of the series that match selectors, with parameters in a form',
    body: NeededMatchForm,
    consumes: [FORM],
    handler: ({ api, body: form }) => api.series(form),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/prometheus/api/v1/labels',
    summary: 'Names of labels',
    query: MATCH,
    handler: ({ api, query }) => api.labels(query),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/prometheus/api/v1/labels',
    summary: 'Names of labels, with parameters in a form',
    body: MatchForm,
    consumes: [FORM],
    handler: ({ api, body: form }) => api.labels(form),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/prometheus/api/v1/label/:name/values',
    summary: 'Values of a label',
    query: MATCH,
    handler: ({ api, params, query }) => api.values(params.name, query),
  }),
]

export function prometheusRoutes(app: FastifyInstance, { service }: { service: PrometheusService }): Promise<void> {
  return addRoutes(app, service, {
    tag: 'prometheus',
    errors: ErrorSchema,
    routes: ROUTES,
    addParsers: (child) =>
      child.addContentTypeParser(FORM, { parseAs: 'string' }, (_request: FastifyRequest, sent: string, done) =>
        done(null, fieldsOf(sent)),
      ),
  })
}

function fieldsOf(sent: string): Readonly<Record<string, unknown>> {
  const form = new URLSearchParams(sent)
  const fields = [...new Set(form.keys())].map((name) => [
    name,
    name.endsWith('[]') ? form.getAll(name) : (form.get(name) ?? ''),
  ])
  return Object.fromEntries(fields) as Readonly<Record<string, unknown>>
}

const TYPES: Readonly<Record<string, string>> = { TOO_LARGE: 'execution', TIMED_OUT: 'timeout', NOT_FOUND: 'not_found' }

export function prometheusErrorBody({ statusCode, code, error }: Refusal): object {
  const errorType = TYPES[code] ?? (statusCode >= 500 ? 'internal' : 'bad_data')
  return { status: 'error', errorType, error }
}
