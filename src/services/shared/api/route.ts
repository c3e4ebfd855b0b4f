/** Routes as values, from which types, checks of input and the operation on the API page are derived. */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions, RouteShorthandOptions } from 'fastify'
import { type TProperties, type TSchema, Type } from 'typebox'
import type { Caller, Rights, Scope } from '#kernel'
import { checkQuery } from '../http/check-query.ts'
import type { Checked } from './check.ts'
import type { Decoded, Problem } from './fields.ts'
import { type Parameters, parameterReader } from './parameters.ts'

/** The right that a route requires: a scope, `any` valid credentials, or none, as `public`. */
export type RouteScope = Scope | 'any' | 'public'

declare module 'fastify' {
  interface FastifyRequest {
    /** rights of the caller; absent: the server has no authentication of this host */
    rights?: Rights | undefined
  }
  interface FastifyContextConfig {
    scope?: RouteScope
    /** Requests from the machine of the host, without a proxy, need no credentials */
    isOpenHere?: boolean
    /** The route accepts WebSockets */
    isSocket?: boolean
    /** scope of a WebSocket, if it is not that of the route */
    socketScope?: Scope
    /** A `device` key may also call the route, for its own resources */
    orDevice?: boolean
  }
}

export function callerOf({ tenant, user, rights }: FastifyRequest): Caller {
  return rights === undefined ? { tenant, user } : { tenant, user, rights }
}

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type ParamNames<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : Path extends `${string}*`
      ? '*'
      : never

export interface RouteContext<Api, Params, Query, Body> {
  readonly api: Api
  readonly params: Params
  /** validated parameters; a service that parses them itself uses `request.query` */
  readonly query: Query
  readonly body: Body
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

interface Description {
  readonly summary: string
  readonly body?: TSchema
  readonly query?: Readonly<Record<string, TSchema>>
  readonly otherQuery?: RegExp
  readonly params: readonly string[]
  /** response schemas by status; default 200. With 204 alone, what the handler returns is not sent */
  readonly answers?: Readonly<Record<number, TSchema>>
  readonly consumes?: readonly string[]
  readonly produces?: readonly string[]
  /** true when the route reads `If-Match` and `If-None-Match` */
  readonly isConditional?: boolean
  readonly operation?: { readonly operationId?: string; readonly deprecated?: boolean }
}

type Shared = Omit<Description, 'params' | 'query' | 'body'>

/** Server options of one route: body parsers, body limit, sockets. */
type ServerOptions = Partial<Omit<RouteOptions, 'method' | 'url' | 'handler' | 'schema' | 'preHandler'>>

interface Unshown {
  readonly aliases?: readonly string[]
  readonly server?: ServerOptions
}

interface RouteDefinition<Api, Path extends string, Q extends TProperties, B extends TSchema> extends Shared, Unshown {
  readonly method: Method
  /** path, with `:name` for parameters, and a final `*` for the rest */
  readonly path: Path
  readonly scope: RouteScope
  /** query parameters by name; with `otherQuery` the service parses them itself */
  readonly query?: Q
  readonly together?: (query: unknown) => readonly Problem[]
  readonly body?: Checked<B>
  handler(context: RouteContext<Api, Readonly<Record<ParamNames<Path>, string>>, Parameters<Q>, Decoded<B>>): unknown
}

export interface Route<Api> extends Unshown {
  readonly method: Method
  readonly path: string
  readonly scope: RouteScope
  readonly description: Description
  answer(api: Api, request: FastifyRequest, reply: FastifyReply): unknown
}

export function routesOf<Api>() {
  return <const Path extends string, Q extends TProperties, B extends TSchema>(
    definition: RouteDefinition<Api, Path, Q, B>,
  ): Route<Api> => {
    const { method, path, aliases, scope, query, together, body, server, handler, ...described } = definition
    const params = [...path.matchAll(/:(\w+)|\*$/g)].map(([, name = '*']) => name)
    const readQuery = query && described.otherQuery === undefined ? parameterReader(query, together) : undefined
    const answer: Route<Api>['answer'] = (api, request, reply) =>
      handler({
        api,
        params: request.params as Readonly<Record<ParamNames<Path>, string>>,
        body: (body === undefined ? undefined : body.read(request.body)) as Decoded<B>,
        query: (readQuery === undefined ? {} : readQuery(request.query)) as Parameters<Q>,
        request,
        reply,
      })
    return {
      method,
      path,
      scope,
      ...(aliases && { aliases }),
      ...(server && { server }),
      description: { ...described, params, ...(query && { query }), ...(body && { body: body.schema }) },
      answer: Object.keys(described.answers ?? {}).join() === '204' ? withoutContent(answer) : answer,
    }
  }
}

/** Responds with 204, whatever the handler returns. */
function withoutContent<Api>(answer: Route<Api>['answer']): Route<Api>['answer'] {
  return async (api, request, reply) => {
    await answer(api, request, reply)
    return reply.sent ? reply : reply.code(204).send()
  }
}

interface RoutesOptions<Api> {
  readonly tag: string
  readonly errors: TSchema
  readonly routes: readonly Route<Api>[]
  readonly addParsers?: (child: FastifyInstance) => void
}

export async function addRoutes<Api>(
  app: FastifyInstance,
  service: { as(caller: Caller): Api },
  { tag, errors, routes, addParsers }: RoutesOptions<Api>,
): Promise<void> {
  await app.register((child, _options, done) => {
    // routes validate input themselves, and responses keep fields that have no schema
    child.setValidatorCompiler(() => () => true)
    child.setSerializerCompiler(() => (data) => JSON.stringify(data))
    addParsers?.(child)
    for (const { method, path, aliases = [], scope, description, server = {}, answer } of routes) {
      const { config, schema, ...options } = optionsOf(description, tag, errors)
      for (const url of [path, ...aliases])
        child.route({
          ...options,
          ...server,
          method,
          url,
          schema: { ...schema, ...(url !== path && { hide: true }) },
          config: { ...config, ...server.config, scope },
          handler: async (request, reply): Promise<unknown> => answer(service.as(callerOf(request)), request, reply),
        })
    }
    done()
  })
}

const CONDITIONS = Type.Object({
  'If-Match': Type.Optional(Type.String({ description: 'only if the current ETag is one of these; *: any' })),
  'If-None-Match': Type.Optional(
    Type.String({ description: 'only if the current ETag is not one of these; *: only if it does not exist' }),
  ),
})

/** Schemas only document the route, which validates input itself; the server checks just the names of parameters. */
function optionsOf(description: Description, tag: string, errors: TSchema): RouteShorthandOptions {
  const { summary, body, query, otherQuery, params, consumes, produces, isConditional = false, operation } = description
  const { answers = produces === undefined ? {} : { 200: Type.String({ description: 'a stream' }) } } = description
  const texts = Object.fromEntries(params.map((name) => [name, Type.String()]))
  return {
    config: { ...(isConditional && { isConditional }) },
    preHandler: checkQuery({ named: query ?? {}, ...(otherQuery && { others: otherQuery }) }),
    schema: {
      summary,
      tags: [tag],
      ...(body && { body }),
      ...(query && { querystring: Type.Object(query) }),
      ...(isConditional && { headers: CONDITIONS }),
      ...(params.length > 0 && { params: Type.Object(texts) }),
      ...(consumes && { consumes }),
      ...(produces && { produces }),
      ...operation,
      response: { ...answers, '4xx': errors },
    },
  }
}
