/** Routes of sources and sinks. */
import type { FastifyInstance } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { addRoutes, routesOf } from '#services/shared'
import type { Checked } from '#services/shared'
import type { ConnectorApi, ConnectorsApi, ConnectorsService } from './contract.ts'
import {
  ErrorSchema,
  REJECTED,
  RejectedSchema,
  RetriedSchema,
  Retry,
  SinkConfiguration,
  SinkSchema,
  SinksSchema,
  SourceConfiguration,
  SourceSchema,
  SourcesSchema,
  TestedSchema,
} from './connector-schema.ts'

const route = routesOf<ConnectorsApi>()

interface Kind {
  readonly one: string
  readonly shown: TSchema
  readonly list: TSchema
  readonly body: Checked
  readonly pick: (api: ConnectorsApi) => ConnectorApi<unknown>
}

function routesFor(kinds: 'sources' | 'sinks', { one, shown, list, body, pick }: Kind) {
  const path = `/api/${kinds}/:name` as const
  return [
    route({
      method: 'GET',
      path: `/api/${kinds}`,
      scope: 'read',
      summary: `The ${kinds} of the tenant, each with its status`,
      answers: { 200: list },
      handler: async ({ api }) => ({ [kinds]: await pick(api).list() }),
    }),
    route({
      method: 'GET',
      path,
      scope: 'read',
      summary: `One ${one}, with its status`,
      answers: { 200: shown },
      handler: ({ api, params }) => pick(api).get(params.name),
    }),
    route({
      method: 'PUT',
      path,
      scope: 'publish',
      summary: `Create or replace a ${one}, and start it`,
      body,
      answers: { 200: shown, 201: shown },
      handler: async ({ api, params, body: document, reply }) => {
        const { connector, created } = await pick(api).put(params.name, document)
        return reply.code(created ? 201 : 200).send(connector)
      },
    }),
    route({
      method: 'DELETE',
      path,
      scope: 'publish',
      summary: `Stop and remove a ${one}, with its position`,
      answers: { 204: Type.Null() },
      handler: ({ api, params }) => pick(api).remove(params.name),
    }),
    ...(['pause', 'resume'] as const).map((action) =>
      route({
        method: 'POST',
        path: `${path}/${action}`,
        scope: 'operate',
        summary: action === 'pause' ? `Stop a ${one} until it is resumed` : `Start a paused ${one} where it stopped`,
        answers: { 200: shown },
        handler: ({ api, params }) => pick(api)[action](params.name),
      }),
    ),
    route({
      method: 'POST',
      path: `${path}/test`,
      scope: 'operate',
      summary: `Connect a ${one} once, and report what happens`,
      answers: { 200: TestedSchema },
      handler: ({ api, params }) => pick(api).test(params.name),
    }),
    route({
      method: 'GET',
      path: `${path}/rejected`,
      scope: 'read',
      summary: `Records of a ${one} that could not be used, with the reason; the latest thousand`,
      query: REJECTED,
      answers: { 200: RejectedSchema },
      handler: ({ api, params, query }) => pick(api).rejected(params.name, query),
    }),
  ]
}

const ROUTES = [
  ...routesFor('sources', {
    one: 'source',
    shown: SourceSchema,
    list: SourcesSchema,
    body: SourceConfiguration,
    pick: ({ sources }) => sources,
  }),
  route({
    method: 'POST',
    path: '/api/sources/:name/rejected',
    scope: 'operate',
    summary: 'Try rejected records again, all of them or the named ones',
    body: Retry,
    answers: { 200: RetriedSchema },
    handler: ({ api, params, body }) => api.sources.retry(params.name, body.ids),
  }),
  route({
    method: 'DELETE',
    path: '/api/sources/:name/rejected/:id',
    scope: 'operate',
    summary: 'Forget a rejected record',
    answers: { 204: Type.Null() },
    handler: ({ api, params }) => api.sources.forget(params.name, params.id),
  }),
  ...routesFor('sinks', {
    one: 'sink',
    shown: SinkSchema,
    list: SinksSchema,
    body: SinkConfiguration,
    pick: ({ sinks }) => sinks,
  }),
]

export function connectorRoutes(app: FastifyInstance, { service }: { service: ConnectorsService }): Promise<void> {
  return addRoutes(app, service, { tag: 'connectors', errors: ErrorSchema, routes: ROUTES })
}
