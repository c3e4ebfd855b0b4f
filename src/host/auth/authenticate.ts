/** Authenticates the requests to a host. */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { AppError, type ErrorCode } from '#kernel'
import { foreignPage, mayBeAttached, refusedPage } from '#services/shared'
import type { CheckedCaller } from './caller.ts'
import type { CheckPair } from './check-pair.ts'
import { REMEMBERED_MS, RememberedChecks } from './remembered-checks.ts'
import type { Tokens } from './tokens.ts'

export interface AuthenticationDependencies {
  readonly checkPair: CheckPair
  readonly tokens: Tokens
  readonly now: () => number
  /** External address of the host, needed when a proxy sends a different `Host` */
  readonly ownUrl?: string | undefined
}

/**
 * Creates an `onRequest` hook that identifies the caller. Throws `FORBIDDEN` also for a write by a page of another
 * origin with a pair that the browser attached. Tokens are never delayed, since they cannot be guessed.
 */
export function authenticate({ checkPair, tokens, now, ownUrl }: AuthenticationDependencies) {
  const remembered = new RememberedChecks(now)

  const callerOf = async (credentials: Credentials | undefined, address: string): Promise<CheckedCaller> => {
    if (credentials?.kind === 'token') {
      const caller = await tokens.check(credentials.token)
      return { ...caller, until: Math.min(caller.until, now() + REMEMBERED_MS) }
    }
    const caller = credentials && (await checkPair(credentials.key, credentials.secret, address))
    if (caller === undefined) throw new AppError('UNAUTHORIZED', 'The API key or its secret is wrong')
    return caller
  }

  const checked = async (request: FastifyRequest, reply: FastifyReply, presented: Presented) => {
    try {
      const find = () => callerOf(presented.read(), request.ip)
      return admitted(request, await remembered.check(presented.text, find))
    } catch (error) {
      return refused(reply, error as Error)
    }
  }

  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
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
    if (caller !== undefined) return done(admitted(request, caller))
    void (async () => done(await checked(request, reply, presented)))()
  }
}

function admitted(request: FastifyRequest, { tenant, user }: CheckedCaller): AppError | undefined {
  request.tenant = tenant
  request.user = user
  const named = (request.params as Readonly<Record<string, string>> | undefined)?.['tenant']
  if (named === undefined || named === tenant) return undefined
  return new AppError('FORBIDDEN', 'You are not authorized to perform this action')
}

function nothing(): AppError {
  return new AppError('UNAUTHORIZED', 'Credentials are missing; send an API key and secret (basic) or a bearer token')
}

function refused(reply: FastifyReply, error: Error): Error {
  const code: ErrorCode | undefined = error instanceof AppError ? error.code : undefined
  if (code === 'UNAUTHORIZED') {
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

interface Presented {
  readonly text: string
  read(): Credentials | undefined
}

/** Finds the credentials: `Authorization`, or, only for WebSockets, `apiKey` and `apiSecret` in the query. */
function presentedBy(request: FastifyRequest): Presented | undefined {
  const { authorization } = request.headers
  if (authorization !== undefined) return { text: authorization, read: () => readHeader(authorization) }
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') return undefined
  const { apiKey, apiSecret } = request.query as Readonly<Record<string, unknown>>
  if (apiKey === undefined && apiSecret === undefined) return undefined
  if (typeof apiKey !== 'string' || typeof apiSecret !== 'string') return { text: 'query', read: () => undefined }
  const text = `query ${JSON.stringify([apiKey, apiSecret])}`
  return { text, read: () => ({ kind: 'pair', key: apiKey, secret: apiSecret }) }
}

function readHeader(header: string): Credentials | undefined {
  const [, scheme = '', value = ''] = /^([a-z]{1,10}) ([\w+/.~=-]+)$/i.exec(header) ?? []
  if (scheme.toLowerCase() === 'bearer') return { kind: 'token', token: value }
  if (scheme.toLowerCase() !== 'basic') return undefined
  const pair = Buffer.from(value, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon < 0 ? undefined : { kind: 'pair', key: pair.slice(0, colon), secret: pair.slice(colon + 1) }
}
