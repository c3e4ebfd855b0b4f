/** Lets requests in, or refuses them, by what they show. */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { AppError, type ErrorCode } from '../../kernel/errors.ts'
import type { CheckedCaller } from './caller.ts'
import { presentedBy, type Credentials, type Presented } from './credentials.ts'
import type { ApiKeys } from './api-keys.ts'
import { REMEMBERED_MS, RememberedChecks } from './remembered-checks.ts'
import type { Tokens } from './tokens.ts'
import { WrongAttempts } from './wrong-attempts.ts'

export interface AuthenticationDependencies {
  readonly keyPairs: ApiKeys
  readonly tokens: Tokens
  /** epoch ms */
  readonly now: () => number
}

/**
 * A hook for `onRequest` that lets in who may call the route, and writes down who it is. `UNAUTHORIZED` without good
 * credentials, `FORBIDDEN` for a route of another tenant (one with a parameter `tenant`) or from another machine,
 * `RATE_LIMITED` after too many wrong attempts.
 */
export function authenticate({ keyPairs, tokens, now }: AuthenticationDependencies) {
  const remembered = new RememberedChecks(now)
  const wrong = new WrongAttempts(now)

  const check = async (request: FastifyRequest, presented: Presented): Promise<CheckedCaller> => {
    const credentials = presented.read()
    const key = credentials?.kind === 'pair' ? credentials.key : ''
    const wait = wrong.wait(request.ip, key)
    if (wait > 0) throw new AppError('RATE_LIMITED', `Too many wrong credentials; try again in ${wait} s`)
    try {
      return await remembered.check(presented.text, () => callerOf(credentials))
    } catch (error) {
      if (error instanceof AppError && error.code === 'UNAUTHORIZED') wrong.count(request.ip, key)
      throw error
    }
  }

  const callerOf = async (credentials: Credentials | undefined): Promise<CheckedCaller> => {
    const trusted = now() + REMEMBERED_MS
    if (credentials?.kind === 'token') {
      const caller = await tokens.check(credentials.token)
      return { ...caller, until: Math.min(caller.until, trusted) }
    }
    const caller = credentials && (await keyPairs.check(credentials.key, credentials.secret))
    if (caller === undefined) throw new AppError('UNAUTHORIZED', 'The API key or its secret is wrong')
    return { ...caller, until: trusted }
  }

  const checked = async (request: FastifyRequest, reply: FastifyReply, presented: Presented) => {
    try {
      return admitted(request, await check(request, presented))
    } catch (error) {
      return refused(reply, error as Error)
    }
  }

  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    const { access = 'key' } = request.routeOptions.config
    if (access === 'public') return done()
    if (access === 'loopback') return done(isFromHere(request) ? undefined : elsewhere())
    const presented = presentedBy(request)
    if (presented === undefined) return done(refused(reply, nothing()))
    const caller = remembered.get(presented.text)
    // Nearly every request ends here, without a promise.
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

function elsewhere(): AppError {
  return new AppError('FORBIDDEN', 'This path answers only to the machine that the host runs on')
}

/** With the headers that tell a client what to do. */
function refused(reply: FastifyReply, error: Error): Error {
  const code: ErrorCode | undefined = error instanceof AppError ? error.code : undefined
  if (code === 'UNAUTHORIZED') {
    reply.header('www-authenticate', ['Basic realm="reflexarc", charset="UTF-8"', 'Bearer realm="reflexarc"'])
  }
  if (code === 'RATE_LIMITED') reply.header('retry-after', 1)
  return error
}

/** A proxy on this machine speaks for others, who are then not here. */
export function isFromHere(request: FastifyRequest): boolean {
  const { forwarded, 'x-forwarded-for': via } = request.headers
  if (forwarded !== undefined || via !== undefined) return false
  const address = request.raw.socket.remoteAddress ?? ''
  return address === '::1' || /^(?:::ffff:)?127\./.test(address)
}
