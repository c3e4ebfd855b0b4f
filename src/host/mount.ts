/**
 * Mounts the whole API on a Fastify scope. All hooks and routes stay inside the scope, so that other routes of the
 * server are unaffected and several hosts can share one process.
 *
 * MOUNT-1 every route requires credentials, unless its scope is `public`
 * MOUNT-2 a failed request is answered in its service's error format, without internals
 * MOUNT-3 bodies that exceed the size or depth, or have the wrong type, for their route are rejected
 * MOUNT-4 every route of a service declares the scope that it requires
 */
import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  RouteOptions,
} from 'fastify'
import { AppError } from '#kernel'
import { actAs } from '#platform'
import { type AuthRoutes, authRoutes } from './auth/auth-api.ts'
import { authenticate, type AuthenticationDependencies } from './auth/authenticate.ts'
import { errorHandler } from './errors.ts'
import { consoleRoutes } from './console.ts'
import { plainErrorBody } from './failure.ts'
import { healthRoutes } from './health.ts'
import type { HostLog } from './host-log.ts'
import { keepAnswers, type KeepingOptions } from './idempotency/keep-answers.ts'
import { readJsonBodies } from './json-body.ts'
import { KnownRoutes } from './known-routes.ts'
import { metricsRoute, type Metrics } from './metrics.ts'
import { describeApi } from './openapi.ts'
import { TokenBuckets } from './rate-limit.ts'
import { asksForKey, type HostedService } from './hosted-service.ts'
import { causationIn } from './causation-header.ts'
import { isInternal } from './internal-client.ts'
import { watchAnswers } from './open-answers.ts'
import type { Timers } from './timers.ts'
import { ownVersion } from './version.ts'
import type { IsOnOrigin } from './webscript-origin.ts'

export interface Limits {
  /** Maximum body size in bytes, unless the route sets its own */
  readonly bodyBytes: number
  /** Time limit for the first byte of a response, in ms */
  readonly requestMs: number
  readonly ratePerKey: number
}

export interface MountedCluster {
  introduce(app: FastifyInstance): void
}

export interface MountOptions {
  readonly services: readonly HostedService[]
  /** Opens tenants before the services start. `closing` is the signal passed to `HostedService.start`. */
  open(closing: AbortSignal): Promise<void>
  readonly routing: {
    /** Adds routing after authentication: requests wait until their tenant is open, or are forwarded to its host. */
    addTo(app: FastifyInstance): void
  }
  readonly authentication: AuthenticationDependencies
  /** Returns the base of links for requests of this process, unless `--url` sets it. */
  origin(app: FastifyInstance): string
  readonly auth: AuthRoutes
  readonly metrics: Metrics
  /** The first tenant, whose keys may read the metrics of all */
  readonly tenant: string
  readonly keeping: KeepingOptions
  readonly limits: Limits
  readonly timers?: Timers
  readonly serviceLog?: HostLog
  probe(): Promise<readonly string[]>
  /** Returns false until the host has joined its cluster. Default: always true */
  isReady?(): boolean
  warnings(): readonly string[]
  /** Cluster membership; absent: a single host */
  readonly cluster?: MountedCluster
  /** Whether the server has no other routes, so that this host answers unknown paths */
  readonly alone: boolean
  /** absent: there is only one origin */
  readonly isOnWebscriptOrigin?: IsOnOrigin
}

export async function mount(app: FastifyInstance, options: MountOptions): Promise<void> {
  const { services, authentication, metrics, limits } = options
  options.serviceLog?.goTo(app.log)
  const known = new KnownRoutes()
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())

  for (const name of ['tenant', 'user']) if (!app.hasRequestDecorator(name)) app.decorateRequest(name, '')
  for (const name of ['rights', 'credentials']) if (!app.hasRequestDecorator(name)) app.decorateRequest(name, undefined)
  if (!app.hasRequestDecorator('led')) {
    app.decorateRequest('led', {
      getter(this: FastifyRequest) {
        return causationIn(this.headers)
      },
    })
  }
  app.decorateRequest('externalUrl', {
    getter(this: FastifyRequest) {
      return authentication.ownUrl ?? (isInternal(this) ? options.origin(app) : undefined)
    },
  })
  readJsonBodies(app)
  const failed = errorHandler(plainErrorBody)
  app.setErrorHandler((thrown, request, reply) => {
    // Fastify reports an unsupported method before it looks up routes
    const isNoRoute = request.is404 && (thrown as FastifyError).code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE'
    return isNoRoute ? known.handler(request, reply) : failed(thrown, request, reply)
  })
  app.addHook('onRoute', (route) => {
    route.bodyLimit ??= limits.bodyBytes
  })
  keepAnswers(app, options.keeping)
  app.addHook('onRequest', (_request, _reply, done) => done(closing.signal.aborted ? stopping() : undefined))
  watchAnswers(app, limits.requestMs, options.timers)
  metrics.watch(app)
  logRequests(app)
  app.addHook('onRequest', refuseTwoHosts)
  if (options.isOnWebscriptOrigin !== undefined) keepOff(app, options.isOnWebscriptOrigin)
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.isRoot !== true || !wantsPage(request)) return done()
    // browsers are redirected even without credentials
    reply.header('vary', 'accept').redirect(`${app.prefix}/console/`)
  })
  options.cluster?.introduce(app)
  authenticate(app, authentication)
  app.addHook('onRequest', refuseUnreadConditions)
  app.addHook('onRequest', limitRate(limits.ratePerKey, authentication.now))
  options.routing.addTo(app)
  app.addHook('preHandler', actForCaller)
  if (options.alone || app.prefix !== '') app.setNotFoundHandler(known.handler)

  await describeApi(app, services)
  await app.register(async (own) => {
    known.watch(own, plainErrorBody)
    const routes = declared(own)
    healthRoutes(own, options)
    metricsRoute(own, metrics, options.tenant)
    consoleRoutes(own)
    rootRoute(own, services)
    await authRoutes(own, options.auth)
    requireScopes('the host', routes)
  })
  for (const service of services) {
    await app.register(async (scope) => {
      const { errorBody = plainErrorBody } = service
      known.watch(scope, errorBody)
      scope.addHook('onRoute', (route) => {
        route.schema = { tags: [service.name], ...route.schema }
      })
      const routes = declared(scope)
      // routes validate their own input
      scope.setValidatorCompiler(() => () => true)
      scope.setErrorHandler(errorHandler(errorBody))
      await service.routes(scope)
      requireScopes(service.name, routes)
    })
  }
  await options.open(closing.signal)
  for (const service of services) await service.start?.(closing.signal)
}

/** Returns the routes that are added to the scope from now on. */
function declared(scope: FastifyInstance): readonly RouteOptions[] {
  const routes: RouteOptions[] = []
  scope.addHook('onRoute', (route) => void routes.push(route))
  return routes
}

function requireScopes(name: string, routes: readonly RouteOptions[]): void {
  const unscoped = routes
    .filter(({ config }) => config?.scope === undefined)
    .map(({ method, url }) => `${String(method)} ${url}`)
  if (unscoped.length > 0) throw new Error(`Routes of ${name} declare no scope: ${unscoped.join(', ')}`)
}

/** Attributes the changes of a request to its caller, until it is answered. */
function actForCaller(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
  const { tenant, user, method, ip, id, routeOptions } = request
  if (user === '' || !WRITES.has(method) || routeOptions.config.scope === 'device') return done()
  const path = request.url.split('?', 1)[0] ?? ''
  const finish = actAs({ tenant, user, address: ip, method, path: path.slice(0, MAX_PATH), request: id }, done)
  reply.raw.once('close', finish)
}

function stopping(): AppError {
  return new AppError('CLOSED', 'The host is stopping; try again in a moment')
}

function keepOff(app: FastifyInstance, isOnWebscriptOrigin: IsOnOrigin): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.isTenantContent === true || !isOnWebscriptOrigin(request)) return done()
    done(
      new AppError(
        'NOT_FOUND',
        'This origin serves only webscripts and public objects; call the API at its own origin',
      ),
    )
  })
}

function limitRate(perSecond: number, now: () => number) {
  const buckets = new TokenBuckets({ perSecond, burst: perSecond * 2, mostKeys: 10_000, now })
  return (request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    const wait = request.user === '' ? 0 : buckets.take(request.user)
    if (wait === 0) return done()
    const text = `Rate limit of ${perSecond} requests a second per key exceeded; retry in ${wait} s`
    done(new AppError('RATE_LIMITED', text, { cause: wait }))
  }
}

/** Rejects a second `Host` header, since a proxy may have read a different one than we do. */
function refuseTwoHosts({ raw }: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void {
  const { rawHeaders } = raw
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') hosts++
  done(hosts > 1 ? new AppError('VALIDATION', `Host: sent ${hosts} times; send it once`) : undefined)
}

const MAX_PATH = 2_048
const CONDITIONS = ['if-match', 'if-none-match', 'if-unmodified-since'] as const
const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Routes for tenant content read all headers themselves. */
function refuseUnreadConditions(request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void {
  const { headers, method, is404, routeOptions } = request
  const { isConditional = false } = routeOptions.config
  if (is404 || !asksForKey(routeOptions.config) || !WRITES.has(method)) return done()
  const read = isConditional ? CONDITIONS.slice(0, 2) : []
  const unread = CONDITIONS.find((name) => headers[name] !== undefined && !read.includes(name))
  if (unread === undefined) return done()
  done(new AppError('VALIDATION', `${unread}: ${routeOptions.url} does not support it; omit it`))
}

function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { log } = request
    if (log.level === 'debug' || log.level === 'trace') {
      const { method, routeOptions, tenant } = request
      const { statusCode, elapsedTime } = reply
      log.debug({ req: request, route: routeOptions.url, method, tenant, statusCode, ms: elapsedTime }, 'answered')
    }
    done()
  })
}

function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true
}

const ROOT_SCHEMA = {
  summary: 'Services of this host',
  tags: ['host'],
  response: {
    200: {
      title: 'About',
      type: 'object',
      properties: {
        name: { type: 'string' },
        version: { type: 'string' },
        services: { type: 'array', items: { type: 'string' } },
      },
      required: ['name', 'version', 'services'],
    },
  },
} as const

function rootRoute(app: FastifyInstance, services: readonly HostedService[]): void {
  const about = { name: 'reflexarc', version: ownVersion(), services: services.map(({ name }) => name) }
  app.get('/', { config: { isRoot: true, scope: 'any' }, schema: ROOT_SCHEMA }, () => about)
}
