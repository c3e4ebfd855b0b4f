/**
 * A route as a value: what it takes, who may ask it and what answers. Its types, the check of what it takes, and its
 * operation on the API page follow from it.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions, RouteShorthandOptions } from 'fastify'
import { type TProperties, type TSchema, Type } from 'typebox'
import type { Caller } from '#kernel'
import { checkQuery } from '../http/check-query.ts'
import type { Checked } from './check.ts'
import type { Decoded, Problem } from './fields.ts'
import { type Parameters, parameterReader } from './parameters.ts'

/** The right that a route needs, from `public` (none) to `admin`. Every key has all of them today. */
export type Scope = 'public' | 'device' | 'read' | 'operate' | 'author' | 'publish' | 'admin'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `loopback`: who is on this machine without a proxy in between needs no credentials, and others have no access */
    scope?: Scope | 'loopback'
  }
}

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type ParamNames<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : Path extends `${string}*`
      ? '*'
      : never

/** What a handler gets of a request. */
export interface RouteContext<Api, Params, Query, Body> {
  /** the service, as the caller may use it */
  readonly api: Api
  /** parts of the path, decoded */
  readonly params: Params
  /** read and checked; a service that reads its parameters itself uses `request.query` */
  readonly query: Query
  readonly body: Body
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

interface Description {
  readonly summary: string
  readonly body?: TSchema
  /** every parameter that the route reads; a list may repeat */
  readonly query?: Readonly<Record<string, TSchema>>
  /** names of parameters besides those; each may repeat */
  readonly otherQuery?: RegExp
  /** names of the parts of the path */
  readonly params: readonly string[]
  /** by status; 200 unless said otherwise */
  readonly answers?: Readonly<Record<number, TSchema>>
  /** content types of the body, when not JSON alone */
  readonly consumes?: readonly string[]
  readonly produces?: readonly string[]
  /** the route reads `If-Match` and `If-None-Match` */
  readonly isConditional?: boolean
  /** what its operation on the API page has besides */
  readonly operation?: { readonly operationId?: string; readonly deprecated?: boolean }
}

type Shared = Omit<Description, 'params' | 'query' | 'body'>

/** Options of the server for one route: readers of other bodies, their limit, sockets. */
type ServerOptions = Partial<Omit<RouteOptions, 'method' | 'url' | 'handler' | 'schema' | 'preHandler'>>

/** What routes have that the API page does not show. */
interface Unshown {
  /** other paths of it */
  readonly aliases?: readonly string[]
  readonly server?: ServerOptions
}

interface RouteDefinition<Api, Path extends string, Q extends TProperties, B extends TSchema> extends Shared, Unshown {
  readonly method: Method
  /** with `:name` for its parts, and `*` at its end for all that follows */
  readonly path: Path
  readonly scope: Scope
  /** parameters by name; with `otherQuery` the service reads them */
  readonly query?: Q
  /** what is wrong with several parameters */
  readonly together?: (query: unknown) => readonly Problem[]
  readonly body?: Checked<B>
  handler(context: RouteContext<Api, Readonly<Record<ParamNames<Path>, string>>, Parameters<Q>, Decoded<B>>): unknown
}

export interface Route<Api> extends Unshown {
  readonly method: Method
  readonly path: string
  readonly scope: Scope
  readonly description: Description
  answer(api: Api, request: FastifyRequest, reply: FastifyReply): unknown
}

/** Makes the routes of a service. */
export function routesOf<Api>() {
  return <const Path extends string, Q extends TProperties, B extends TSchema>(
    definition: RouteDefinition<Api, Path, Q, B>,
  ): Route<Api> => {
    const { method, path, aliases, scope, query, together, body, server, handler, ...described } = definition
    const params = [...path.matchAll(/:(\w+)|\*$/g)].map(([, name = '*']) => name)
    const readQuery = query && described.otherQuery === undefined ? parameterReader(query, together) : undefined
    return {
      method,
      path,
      scope,
      ...(aliases && { aliases }),
      ...(server && { server }),
      description: { ...described, params, ...(query && { query }), ...(body && { body: body.schema }) },
      answer: (api, request, reply) =>
        handler({
          api,
          params: request.params as Readonly<Record<ParamNames<Path>, string>>,
          body: (body === undefined ? undefined : body.read(request.body)) as Decoded<B>,
          query: (readQuery === undefined ? {} : readQuery(request.query)) as Parameters<Q>,
          request,
          reply,
        }),
    }
  }
}

interface RoutesOptions<Api> {
  readonly tag: string
  /** the shape of what the service refuses */
  readonly errors: TSchema
  readonly routes: readonly Route<Api>[]
  /** adds readers of bodies that are not JSON; each returns what the route checks as body */
  readonly addParsers?: (own: FastifyInstance) => void
}

/** Adds the routes in a scope of their own. */
export async function addRoutes<Api>(
  app: FastifyInstance,
  service: { as(caller: Caller): Api },
  { tag, errors, routes, addParsers }: RoutesOptions<Api>,
): Promise<void> {
  await app.register((own, _options, done) => {
    // routes check what they take themselves, and answers have nothing left out that a schema does not know
    own.setValidatorCompiler(() => () => true)
    own.setSerializerCompiler(() => (data) => JSON.stringify(data))
    addParsers?.(own)
    for (const { method, path, aliases = [], scope, description, server = {}, answer } of routes) {
      const { config, schema, ...options } = optionsOf(description, tag, errors)
      for (const url of [path, ...aliases])
        own.route({
          ...options,
          ...server,
          method,
          url,
          schema: { ...schema, ...(url !== path && { hide: true }) },
          config: { ...config, ...server.config, scope },
          handler: async (request, reply): Promise<unknown> => {
            // what the host's authentication found out
            const { tenant, user } = request
            return answer(service.as({ tenant, user }), request, reply)
          },
        })
    }
    done()
  })
}

const CONDITIONS = Type.Object({
  'If-Match': Type.Optional(Type.String({ description: 'only where what is there has this ETag; *: any' })),
  'If-None-Match': Type.Optional(
    Type.String({ description: 'only where what is there has another ETag; *: nothing is' }),
  ),
})

/** Schemas are for readers: routes check what they take themselves; only names of parameters are checked here. */
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
