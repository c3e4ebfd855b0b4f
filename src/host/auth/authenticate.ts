/** Authenticates the requests to a host. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode, messageOf, requireScope, type Rights } from '#kernel'
import { foreignPage, mayBeAttached, refusedPage } from '#services/shared'
import type { CheckedCaller } from './caller.ts'
import type { CheckPair } from './check-pair.ts'
import type { DeviceCertificate, DeviceCertificates } from './device-certificates.ts'
import type { OpenStreams } from './open-streams.ts'
import { REMEMBERED_MS, RememberedChecks } from './remembered-checks.ts'
import type { Sessions } from './sessions.ts'
import type { Tokens } from './tokens.ts'

export const SESSION_COOKIE = 'reflexarc_session'
const COOKIE = new RegExp(String.raw`(?:^|;\s*)${SESSION_COOKIE}=([\w-]{43})(?:;|$)`)
const CSRF_HEADER = 'x-reflexarc-csrf'

export interface AuthenticationDependencies {
  readonly checkPair: CheckPair
  readonly tokens: Tokens
  readonly sessions: Pick<Sessions, 'check'>
  readonly openStreams: Pick<OpenStreams, 'add'>
  /** absent: the host does not ask for certificates of devices */
  readonly devices?: DeviceCertificates | undefined
  readonly now: () => number
  /** External address of the host, needed when a proxy sends a different `Host` */
  readonly ownUrl?: string | undefined
}

/**
 * Adds hooks that identify the caller and require the scope of the route, for requests, WebSockets and streams. They
 * also reject a write by a page of another origin with credentials that the browser attached. Tokens are never delayed,
 * since they cannot be guessed.
 */
export function authenticate(app: FastifyInstance, dependencies: AuthenticationDependencies): void {
  const { checkPair, tokens, sessions, openStreams, devices, now, ownUrl } = dependencies
  const remembered = new RememberedChecks(now)

  const callerOf = async (credentials: Credentials | undefined, address: string): Promise<CheckedCaller> => {
    if (credentials?.kind === 'session') return sessions.check(credentials.token)
    if (credentials?.kind === 'token') {
      const caller = await tokens.check(credentials.token)
      return { ...caller, until: Math.min(caller.until, now() + REMEMBERED_MS) }
    }
    const caller = credentials && (await checkPair(credentials.key, credentials.secret, address))
    if (caller === undefined) throw new AppError('UNAUTHORIZED', 'The API key or its secret is wrong')
    return caller
  }

  const identified = async ({ read, certificate }: Presented, address: string): Promise<CheckedCaller> => {
    if (devices === undefined || certificate === undefined) return callerOf(read?.(), address)
    if (read === undefined) return devices.check(certificate)
    const caller = await callerOf(read(), address)
    await devices.requireSame(certificate, caller)
    return caller
  }

  const presentedBy = (request: FastifyRequest): Presented | undefined => {
    const presented = presentedIn(request)
    const certificate = devices?.shownOn(request.raw.socket)
    if (certificate === undefined) return presented
    return { ...presented, text: `${certificate.fingerprint} ${presented?.text ?? ''}`, certificate }
  }

  const admitted = (request: FastifyRequest, reply: FastifyReply, caller: CheckedCaller): Error | undefined => {
    try {
      admit(request, caller, ownUrl)
    } catch (error) {
      return error as Error
    }
    if (isUpgrade(request)) followSocket(request, reply, caller)
    return undefined
  }

  const followSocket = ({ raw }: FastifyRequest, reply: FastifyReply, caller: CheckedCaller): void => {
    const forget = openStreams.add(caller, () => raw.socket.destroy())
    raw.socket.once('close', forget)
    // an upgrade that was declined
    reply.raw.once('finish', forget)
  }

  const checked = async (request: FastifyRequest, reply: FastifyReply, presented: Presented) => {
    try {
      const find = () => identified(presented, request.ip)
      return admitted(request, reply, await remembered.check(presented.text, find))
    } catch (error) {
      if (presented.certificate !== undefined) request.log.warn(messageOf(error))
      return refused(reply, error as Error)
    }
  }

  app.addHook('onRequest', (request, reply, done) => {
    const { scope, isOpenHere } = request.routeOptions.config
    if (scope === 'public') return done()
    if (isOpenHere === true && isFromHere(request)) return done()
    const presented = presentedBy(request)
    if (presented === undefined) return done(refused(reply, nothing()))
    const page = foreignPage(request, ownUrl)
    if (page !== undefined && mayBeAttached(request.headers.authorization)) {
      return done(new AppError('FORBIDDEN', refusedPage(page)))
    }
    const caller = remembered.get(presented.text)
    // common case: avoids a promise
    if (caller !== undefined) return done(admitted(request, reply, caller))
    void (async () => done(await checked(request, reply, presented)))()
  })
  app.addHook('onSend', ({ credentials }, reply, payload, done) => {
    if (credentials !== undefined && payload instanceof Readable) {
      reply.raw.once(
        'close',
        openStreams.add(credentials, () => reply.raw.destroy()),
      )
    }
    done()
  })
}

/** Sets the identity of a request. Throws `FORBIDDEN` when the caller may not send it. */
function admit(request: FastifyRequest, caller: CheckedCaller, ownUrl: string | undefined): void {
  const { tenant, user, rights, session } = caller
  request.tenant = tenant
  request.user = user
  request.rights = rights
  request.credentials = caller
  if (session !== undefined) requireOwnPage(request, session.csrf, ownUrl)
  const named = (request.params as Readonly<Record<string, string>> | undefined)?.['tenant']
  if (named !== undefined && named !== tenant) {
    throw new AppError('FORBIDDEN', 'You are not authorized to perform this action')
  }
  requireScopeOf(request, rights)
}

function requireScopeOf(request: FastifyRequest, rights: Rights): void {
  const { scope, socketScope, orDevice = false } = request.routeOptions.config
  const isSocket = socketScope !== undefined && isUpgrade(request)
  // only unknown paths have no scope (MOUNT-4)
  const needed = isSocket ? socketScope : (scope ?? 'any')
  if (needed === 'public') return
  if (needed !== 'any') return requireScope(rights, needed, ...(orDevice ? (['device'] as const) : []))
  // keys for provisioning may do nothing else
  if (rights.scopes.every((one) => one === 'provision')) requireScope(rights, 'read')
}

/** Requires that a request with a session cookie comes from a page of this host, and that writes show its token. */
function requireOwnPage(request: FastifyRequest, csrf: string, ownUrl: string | undefined): void {
  const { headers, host, method } = request
  // a page of another origin may not even read
  const page = foreignPage({ headers, host, method: 'POST' }, ownUrl)
  if (page !== undefined) throw new AppError('FORBIDDEN', refusedPage(page))
  if (isUpgrade(request) && headers.origin === undefined) {
    throw new AppError('FORBIDDEN', 'A WebSocket with a session cookie lacks Origin; open it from a page of this host')
  }
  if (method === 'GET' || method === 'HEAD' || headers[CSRF_HEADER] === csrf) return
  throw new AppError(
    'FORBIDDEN',
    `${CSRF_HEADER}: missing or wrong; send the \`csrf\` of GET /auth/v1/session with every write`,
  )
}

function isUpgrade({ headers }: FastifyRequest): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

function nothing(): AppError {
  return new AppError('UNAUTHORIZED', 'Credentials are missing; send an API key and secret (basic) or a bearer token')
}

function refused(reply: FastifyReply, error: Error): Error {
  const code: ErrorCode | undefined = error instanceof AppError ? error.code : undefined
  // pages of the console have a login of their own: a challenge would make the browser ask for a pair
  if (code === 'UNAUTHORIZED' && reply.request.headers[CSRF_HEADER] === undefined) {
    reply.header('www-authenticate', ['Basic realm="reflexarc", charset="UTF-8"', 'Bearer realm="reflexarc"'])
  }
  return error
}

/** Names of this machine. The DNS entry of any other name may be controlled by an attacker's page. */
const HERE = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/** Whether a request comes from this machine. A forwarded request or one with a foreign `Host` does not. */
export function isFromHere(request: FastifyRequest): boolean {
  const { forwarded, 'x-forwarded-for': via, host = '' } = request.headers
  if (forwarded !== undefined || via !== undefined || !HERE.test(host)) return false
  const address = request.raw.socket.remoteAddress ?? ''
  return address === '::1' || /^(?:::ffff:)?127\./.test(address)
}

type Credentials =
  | { readonly kind: 'pair'; readonly key: string; readonly secret: string }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'session'; readonly token: string }

interface Presented {
  readonly text: string
  /** absent: only a certificate */
  readonly read?: () => Credentials | undefined
  readonly certificate?: DeviceCertificate
}

/**
 * Finds the credentials: `Authorization`, or, only for WebSockets, `apiKey` and `apiSecret` in the query, or the cookie
 * of a session.
 */
function presentedIn(request: FastifyRequest): Presented | undefined {
  const { authorization, cookie } = request.headers
  if (authorization !== undefined) return { text: authorization, read: () => readHeader(authorization) }
  return (isUpgrade(request) ? pairInQuery(request) : undefined) ?? sessionIn(cookie)
}

function pairInQuery(request: FastifyRequest): Presented | undefined {
  const { apiKey, apiSecret } = request.query as Readonly<Record<string, unknown>>
  if (apiKey === undefined && apiSecret === undefined) return undefined
  if (typeof apiKey !== 'string' || typeof apiSecret !== 'string') return { text: 'query', read: () => undefined }
  const text = `query ${JSON.stringify([apiKey, apiSecret])}`
  return { text, read: () => ({ kind: 'pair', key: apiKey, secret: apiSecret }) }
}

function sessionIn(cookie: string | undefined): Presented | undefined {
  const token = cookie === undefined ? undefined : COOKIE.exec(cookie)?.[1]
  return token === undefined ? undefined : { text: `session ${token}`, read: () => ({ kind: 'session', token }) }
}

function readHeader(header: string): Credentials | undefined {
  const [, scheme = '', value = ''] = /^([a-z]{1,10}) ([\w+/.~=-]+)$/i.exec(header) ?? []
  if (scheme.toLowerCase() === 'bearer') return { kind: 'token', token: value }
  if (scheme.toLowerCase() !== 'basic') return undefined
  const pair = Buffer.from(value, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon < 0 ? undefined : { kind: 'pair', key: pair.slice(0, colon), secret: pair.slice(colon + 1) }
}
