/** Routes through which webscripts are called. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { AppError, type CancelSignal, decodedText, ERRORS, secondsToWait } from '#kernel'
import { Type } from 'typebox'
import { answerPreflight, foreignPage, mayBeAttached, refusedPage } from '#services/shared'
import { CONNECTION_HEADERS } from '#services/shared/contract'
import type { CallFailure, DeployedWebscript } from '#services/functions/contract'
import { admit, type AdmissionOptions, noWebscript } from './admission.ts'
import { etagOf, isKnown } from './answer-head.ts'
import type { Admitted, InternalWebscripts, ScriptAnswer, ScriptRequest } from './contract.ts'
import { DisconnectSignal } from './disconnect-signal.ts'
import { ErrorSchema } from './webscript-schema.ts'

export const BASE = '/api/v1'
/** Base paths of calls; the second is the one used in links of the registry. */
export const CALL_BASES = [BASE, '/functions/v1'] as const

export interface CallRouting extends AdmissionOptions {
  readonly find: (tenant: string) => InternalWebscripts | undefined
  readonly all: () => Iterable<InternalWebscripts>
  /** public address of this host when it is behind a proxy */
  readonly ownUrl?: string | undefined
  /** True when a request came to the separate origin of webscripts; absent when all share one origin. */
  readonly isOnOwnOrigin?: ((request: FastifyRequest) => boolean) | undefined
}

const MAX_BODY = 10_485_760
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
const VERSION_HEADER = 'x-webscript-version'
/** Keeps pages sent by webscripts from accessing the host's origin. */
const SANDBOX = 'sandbox allow-forms allow-modals allow-popups allow-scripts'
/** Cookies of this host: its sessions, and sign-ins at an issuer. */
const OUR_COOKIE = /^\s*reflexarc_/

const OF_THE_CONNECTION: ReadonlySet<string> = new Set(CONNECTION_HEADERS)

interface AdmittedCall extends Admitted {
  readonly script: DeployedWebscript
  readonly service: InternalWebscripts
  /** encoded path after the address of the webscript; begins with a slash */
  readonly path: string
  /** query without the secret */
  readonly query: string
}

export function callRoutes(app: FastifyInstance, routing: CallRouting): void {
  const { isOnOwnOrigin, ownUrl } = routing
  const admitted = new WeakMap<FastifyRequest, AdmittedCall>()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY }, (_request, body, parsed) =>
    parsed(null, body),
  )

  /** Runs synchronously for public webscripts without credentials, the usual case. */
  const authorize = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    reply.header('access-control-allow-origin', '*')
    if (isPreflight(request)) return void answerPreflight(request, reply, METHODS.join(', '))
    const { raw, headers } = request
    const [path = '', ...queries] = (raw.url ?? '').slice(app.prefix.length).split('?')
    const query = queries.join('?')
    const base = CALL_BASES.find((one) => path.startsWith(`${one}/`)) ?? BASE
    const located = locate(path.slice(base.length + 1), routing)
    const version = headers[VERSION_HEADER]
    const requested = typeof version === 'string' ? version.trim() : undefined
    const script = located?.service.choose(located.name, requested)
    const { authorization } = headers
    const enter = (caller: Admitted): Error | undefined => {
      try {
        if (script === undefined || located === undefined) throw noWebscript()
        located.service.admit()
        const shown = script.isPrivate ? withoutSecret(query) : query
        admitted.set(request, { ...caller, ...located, script, query: shown })
        return undefined
      } catch (error) {
        return withHeaders(reply, error as Error)
      }
    }
    const authenticated = async (): Promise<Error | undefined> => {
      const shown = { authorization, secret: secretIn(query), address: request.ip }
      const page = script?.isPrivate === true && mayBeAttached(authorization) ? foreignPage(request, ownUrl) : undefined
      if (page !== undefined) return new AppError('FORBIDDEN', refusedPage(page))
      try {
        return enter(await (located?.service.authenticate(script, shown) ?? admit(undefined, [], shown, routing)))
      } catch (error) {
        return withHeaders(reply, error as Error)
      }
    }
    if (script?.isPrivate === false && authorization === undefined)
      return done(enter({ isHeaderOurs: false, isOwner: false }))
    void (async () => done(await authenticated()))()
  }

  const call = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const found = admitted.get(request)
    if (found === undefined) throw noWebscript()
    const signal = new DisconnectSignal(reply.raw)
    let answer: ScriptAnswer
    try {
      const isOnApiOrigin = isOnOwnOrigin?.(request) !== true
      answer = await found.service.call(found.script, { ...requestOf(request, found, signal), isOnApiOrigin })
    } catch (error) {
      return refuse(reply, error, found)
    }
    return send(request, reply, answer)
  }

  const paths = CALL_BASES.flatMap((base) => [`${base}/:id`, `${base}/:id/*`])
  for (const url of paths) {
    const hide = url !== `${BASE}/:id/*`
    for (const method of METHODS) {
      app.route({
        url,
        method,
        // the webscript itself handles all methods
        exposeHeadRoute: false,
        bodyLimit: MAX_BODY,
        config: { scope: 'public', isTenantContent: true },
        onRequest: authorize,
        handler: call,
        schema: {
          operationId: `callWebscriptBy${method[0]}${method.slice(1).toLowerCase()}`,
          hide: hide || method === 'OPTIONS' || method === 'HEAD',
          summary: 'Call a webscript',
          description:
            'By its id, or by tenant and name. A private webscript requires its secret (the header `Authorization: hmac-sha256 <secret>`, or `?secret=`), or a key of its tenant. The webscript determines the response.',
          security: [],
          params: Type.Object({
            id: Type.String({ description: 'id of the webscript, or its tenant' }),
            '*': Type.Optional(
              Type.String({
                description: 'after a tenant: the name of the webscript; then the path for the webscript',
              }),
            ),
          }),
          response: {
            '2xx': Type.Unknown({ description: 'the response of the webscript' }),
            '4xx': ErrorSchema,
            '5xx': ErrorSchema,
          },
        },
      })
    }
  }
}

interface LocatedScript {
  readonly service: InternalWebscripts
  readonly name: string
  readonly path: string
}

function locate(address: string, { find, all }: CallRouting): LocatedScript | undefined {
  const [first = '', second = ''] = address.split('/', 2)
  const [id, named] = [decodedText(first), decodedText(second)]
  for (const service of all()) {
    const name = service.nameOf(id)
    if (name !== undefined) return { service, name, path: address.slice(first.length) || '/' }
  }
  const service = find(id)
  if (service?.has(named) !== true) return undefined
  return { service, name: named, path: address.slice(first.length + 1 + second.length) || '/' }
}

function requestOf(
  { raw, headers, body, method }: FastifyRequest,
  { path, query, isHeaderOurs }: AdmittedCall,
  signal: CancelSignal,
): ScriptRequest {
  const pairs: [string, string][] = []
  // only the first Authorization header was checked, so further ones are dropped
  let hasAuthorization = isHeaderOurs
  for (let at = 0; at < raw.rawHeaders.length; at += 2) {
    const name = raw.rawHeaders[at]?.toLowerCase() ?? ''
    if (OF_THE_CONNECTION.has(name)) continue
    if (name === 'authorization') {
      if (hasAuthorization) continue
      hasAuthorization = true
    }
    // already removed, such as the content type of an empty body
    if (headers[name] === undefined) continue
    const value = raw.rawHeaders[at + 1] ?? ''
    const shown = name === 'cookie' ? withoutOurCookies(value) : value
    if (shown !== '' || value === '') pairs.push([name, shown])
  }
  return {
    method,
    path,
    query,
    headers: pairs,
    body: body instanceof Uint8Array ? body : new Uint8Array(),
    signal,
  }
}

function withoutOurCookies(cookies: string): string {
  return cookies
    .split(';')
    .filter((one) => !OUR_COOKIE.test(one))
    .join(';')
    .trim()
}

function send(request: FastifyRequest, reply: FastifyReply, { status, headers, body }: ScriptAnswer): FastifyReply {
  reply.code(status)
  const names = new Map<string, string | string[]>()
  for (const [name, value] of headers) {
    const former = names.get(name)
    names.set(name, former === undefined ? value : [former, value].flat())
  }
  // browsers apply all policies, so the webscript's own policy can only restrict further
  names.set('content-security-policy', [names.get('content-security-policy') ?? [], SANDBOX].flat())
  for (const [name, value] of names) reply.header(name, value)
  if (!names.has('x-content-type-options')) reply.header('x-content-type-options', 'nosniff')
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    if (!names.has('content-type')) reply.type('application/octet-stream')
    return reply.send(body)
  }
  if (body.length === 0) return reply.send()
  if (status === 200 && (request.method === 'GET' || request.method === 'HEAD') && !names.has('etag')) {
    const etag = etagOf(body)
    reply.header('etag', etag)
    if (isKnown(etag, request.headers['if-none-match'])) return reply.code(304).send()
  }
  if (!names.has('content-type')) reply.type('application/octet-stream')
  return reply.send(body)
}

function withHeaders(reply: FastifyReply, error: Error): Error {
  const code = error instanceof AppError ? error.code : undefined
  if (code === 'UNAUTHORIZED') {
    reply.header('www-authenticate', ['hmac-sha256', 'Basic realm="reflexarc", charset="UTF-8"'])
  }
  if (error instanceof AppError && code === 'RATE_LIMITED') reply.header('retry-after', secondsToWait(error))
  return error
}

/** Sends an error. Details are in the log of the webscript; only callers of its tenant see the reason. */
function refuse(reply: FastifyReply, error: unknown, { isOwner, script }: AdmittedCall): FastifyReply {
  if (!(error instanceof AppError)) throw error
  const { code } = error
  if (code === 'RATE_LIMITED') {
    reply.header('retry-after', secondsToWait(error))
    throw error
  }
  const [statusCode, kind] = kindOf(error)
  const reason = code === 'PLUG_FAILED' ? error.message : code === 'CLOSED' ? script.failure : undefined
  const message = isOwner && reason !== undefined ? `${kind}: ${reason}` : kind
  if (statusCode === 503) reply.header('retry-after', 1)
  return reply.code(statusCode).type('application/json; charset=utf-8').send({ error: message, code, statusCode })
}

function kindOf(error: AppError): readonly [number, string] {
  const { code, message } = error
  if (code === 'TOO_LARGE') return [413, 'The request is too large for the webscript']
  if (code !== 'PLUG_FAILED') return [ERRORS[code].status, message]
  const cause = error.cause as CallFailure | 'answer' | undefined
  if (cause === 'answered') return [500, 'The webscript failed']
  if (cause === 'overdue') return [504, 'The webscript did not respond in time']
  if (cause === 'answer') return [502, 'The webscript returned an invalid response']
  if (cause === 'ended') return [502, 'The webscript ended without a response']
  return [503, 'The webscript cannot be called at the moment']
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

function secretIn(query: string): string | undefined {
  if (!query.includes('secret') && !query.includes('%')) return undefined
  return new URLSearchParams(query).get('secret') ?? undefined
}

function withoutSecret(query: string): string {
  return query
    .split('&')
    .filter((one) => !new URLSearchParams(one).has('secret'))
    .join('&')
}
