/** Routes of keys, devices and sessions. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError, hasScope, SCOPES, shown } from '#kernel'
import { addRoutes, foreignPage, linkTo, type LookUp, refusedPage, requireOwn, routesOf } from '#services/shared'
import type { Decoded } from '#services/shared/contract'
import type { ApiKeys, KeyPair } from './api-keys.ts'
import {
  DeviceBody,
  ErrorSchema,
  KeysSchema,
  LinkSchema,
  newKeyOf,
  NewKeyBody,
  NewPairSchema,
  RotationBody,
  SessionBody,
  SessionSchema,
  SessionsSchema,
  shownKey,
} from './auth-schema.ts'
import { SESSION_COOKIE } from './authenticate.ts'
import { type CheckedCaller, isOfSession, type SessionCaller } from './caller.ts'
import type { CheckPair } from './check-pair.ts'
import type { KeyChanges } from './key-changes.ts'
import { type Oidc, SIGN_IN_COOKIE, SIGN_IN_S } from './oidc.ts'
import { type NewSession, SESSION_MS, type Sessions } from './sessions.ts'

export interface AuthRoutes {
  readonly keys: ApiKeys
  readonly sessions: Sessions
  readonly changes: KeyChanges
  readonly checkPair: CheckPair
  /** absent: people sign in by keys and links only */
  readonly oidc?: Oidc
  /** Reads resources of a tenant. */
  readonly lookUp: (tenant: string) => LookUp
  /** Returns epoch ms */
  readonly now: () => number
  readonly ownUrl?: string | undefined
}

const route = routesOf<AuthRoutes>()
const noContent = { 204: Type.Null() }
/** Path of the console with the code of a link */
export const CONSOLE_LINK = '/console#link='

const KEY_ROUTES = [
  route({
    method: 'GET',
    path: '/auth/v1/keys',
    scope: 'admin',
    summary: 'Keys of the tenant, without secrets',
    answers: { 200: KeysSchema },
    handler: async ({ api: { keys }, request }) => ({
      keys: (await keys.list(checkedOf(request).tenant)).map(shownKey),
    }),
  }),
  route({
    method: 'POST',
    path: '/auth/v1/keys',
    scope: 'admin',
    summary: 'Create a key; only this response contains its secret',
    body: NewKeyBody,
    answers: { 201: NewPairSchema },
    handler: async ({ api: { keys, changes, now }, body, request, reply }) => {
      const pair = await keys.make(newKeyOf(body, checkedOf(request).tenant, now()))
      await changes.announce()
      return sendPair(reply, pair)
    },
  }),
  route({
    method: 'POST',
    path: '/auth/v1/keys/:key/rotate',
    scope: 'admin',
    summary: 'Replace the secret of a key; the previous one stays valid for `graceSeconds`',
    body: RotationBody,
    answers: { 201: NewPairSchema },
    handler: async ({ api, params: { key }, body, request, reply }) => {
      await requireKey(api, request, key)
      const pair = await api.keys.rotate(key, (body.graceSeconds ?? 0) * 1_000)
      if (pair === undefined) throw unknownKey(key)
      await api.changes.announce()
      return sendPair(reply, pair)
    },
  }),
  route({
    method: 'DELETE',
    path: '/auth/v1/keys/:key',
    scope: 'admin',
    summary: 'Remove a key; its sessions and open streams end',
    answers: noContent,
    handler: async ({ api, params: { key }, request }) => {
      await requireKey(api, request, key)
      await api.keys.remove(key)
      await api.changes.announce()
    },
  }),
  route({
    method: 'POST',
    path: '/auth/v1/devices',
    scope: 'provision',
    summary: 'Enrol a device: creates a key for one of the resources of the provisioning key',
    body: DeviceBody,
    answers: { 201: NewPairSchema },
    handler: async ({ api: { keys, changes, lookUp }, body: { resource, name }, request, reply }) => {
      const { tenant, rights } = checkedOf(request)
      const named = [{ path: '/resource', resource }]
      if (rights.resources !== undefined) await requireOwn(rights.resources, named, lookUp(request.tenant))
      const pair = await keys.enrol(resource, { tenant, ...(name !== undefined && { name }) })
      await changes.announce()
      return sendPair(reply, pair)
    },
  }),
]

const SESSION_ROUTES = [
  route({
    method: 'POST',
    path: '/auth/v1/session',
    scope: 'public',
    summary: 'Open a session, as a cookie, with a key or a one-time link',
    body: SessionBody,
    answers: { 201: SessionSchema },
    handler: async ({
      api: { sessions, checkPair, ownUrl },
      body: { key = '', secret = '', link },
      request,
      reply,
    }) => {
      const page = foreignPage(request, ownUrl)
      if (page !== undefined) throw new AppError('FORBIDDEN', refusedPage(page))
      if (link !== undefined) return sendSession(request, reply, await sessions.openByLink(link), ownUrl)
      const caller = await checkPair(key, secret, request.ip)
      if (caller === undefined) throw new AppError('UNAUTHORIZED', 'The API key or its secret is wrong')
      return sendSession(request, reply, await sessions.open(caller), ownUrl)
    },
  }),
  route({
    method: 'GET',
    path: '/auth/v1/session',
    scope: 'any',
    summary: 'The session of the cookie',
    answers: { 200: SessionSchema },
    handler: ({ request }) => shownSession(sessionOf(request)),
  }),
  route({
    method: 'DELETE',
    path: '/auth/v1/session',
    scope: 'any',
    summary: 'End the session of the cookie',
    answers: noContent,
    handler: async ({ api: { sessions }, request, reply }) => {
      const { tenant, session } = sessionOf(request)
      await sessions.remove(tenant, session.id)
      return reply
        .header('set-cookie', cookieOf(SESSION_COOKIE, '', 0, false))
        .code(204)
        .send()
    },
  }),
  route({
    method: 'GET',
    path: '/auth/v1/sessions',
    scope: 'admin',
    summary: 'Sessions of the tenant',
    answers: { 200: SessionsSchema },
    handler: async ({ api: { sessions }, request }) => ({ sessions: await sessions.list(checkedOf(request).tenant) }),
  }),
  route({
    method: 'DELETE',
    path: '/auth/v1/sessions/:id',
    scope: 'admin',
    summary: 'End a session',
    operation: { operationId: 'deleteAuthV1SessionById' },
    answers: noContent,
    handler: async ({ api: { sessions }, params: { id }, request }) => {
      if (!(await sessions.remove(checkedOf(request).tenant, id))) {
        throw new AppError('NOT_FOUND', `unknown session ${shown(id)}; GET /auth/v1/sessions lists all sessions`)
      }
    },
  }),
  route({
    method: 'POST',
    path: '/auth/v1/links',
    scope: 'any',
    summary: 'Create a one-time link that opens a session with the rights of the caller',
    answers: { 201: LinkSchema },
    handler: async ({ api: { sessions }, request, reply }) => {
      const { code, expires } = await sessions.link(checkedOf(request))
      const path = `${CONSOLE_LINK}${code}`
      return reply.code(201).send({ link: code, path, expires: new Date(expires).toISOString() })
    },
  }),
]

/** Page to which a browser returns after it has signed in */
const CONSOLE = '/console'
const CALLBACK = '/auth/v1/oidc/callback'

function oidcRoutes(oidc: Oidc) {
  return [
    route({
      method: 'GET',
      path: '/auth/v1/oidc/login',
      scope: 'public',
      summary: 'Log in at the issuer',
      answers: { 302: Type.Null() },
      server: { exposeHeadRoute: false },
      handler: async ({ api: { ownUrl }, request, reply }) => {
        const { address, cookie } = await oidc.begin(linkTo(request, CALLBACK))
        const set = cookieOf(SIGN_IN_COOKIE, cookie, SIGN_IN_S, isSecure(request, ownUrl), 'Lax')
        return reply.header('set-cookie', set).header('cache-control', 'no-store').redirect(address)
      },
    }),
    route({
      method: 'GET',
      path: CALLBACK,
      scope: 'public',
      summary: 'Return from the issuer: opens a session',
      query: { code: Type.Optional(Type.String()), state: Type.Optional(Type.String()) },
      otherQuery: /^(?:error|error_description|error_uri|iss|session_state|scope)$/,
      answers: { 302: Type.Null() },
      server: { exposeHeadRoute: false },
      handler: async ({ api: { sessions, ownUrl }, request, reply }) => {
        const { code = '', state = '', error } = request.query as Readonly<Record<string, string | undefined>>
        if (error !== undefined) throw new AppError('UNAUTHORIZED', `The login at the issuer failed: ${shown(error)}`)
        const cookie =
          new RegExp(`(?:^|;\\s*)${SIGN_IN_COOKIE}=([\\w.-]+)`).exec(request.headers.cookie ?? '')?.[1] ?? ''
        const { token } = await sessions.open(await oidc.finish(cookie, { code, state }))
        const secure = isSecure(request, ownUrl)
        const cookies = [
          cookieOf(SESSION_COOKIE, token, SESSION_MS / 1_000, secure),
          cookieOf(SIGN_IN_COOKIE, '', 0, secure, 'Lax'),
        ]
        return reply
          .header('set-cookie', cookies)
          .header('cache-control', 'no-store')
          .redirect(linkTo(request, CONSOLE))
      },
    }),
  ]
}

export function authRoutes(app: FastifyInstance, parts: AuthRoutes): Promise<void> {
  const { oidc } = parts
  const routes = [...KEY_ROUTES, ...SESSION_ROUTES, ...(oidc === undefined ? [] : oidcRoutes(oidc))]
  return addRoutes(app, { as: () => parts }, { tag: 'auth', errors: ErrorSchema, routes })
}

async function requireKey({ keys }: AuthRoutes, request: FastifyRequest, key: string): Promise<void> {
  if ((await keys.ownerOf(key)) !== checkedOf(request).tenant) throw unknownKey(key)
}

function unknownKey(key: string): AppError {
  return new AppError('NOT_FOUND', `unknown key ${shown(key)}; GET /auth/v1/keys lists all keys`)
}

function sendPair(reply: FastifyReply, { key, tenant, secret }: KeyPair): FastifyReply {
  return reply.code(201).header('cache-control', 'no-store').send({ key, tenant, secret })
}

function sessionOf({ credentials }: FastifyRequest): SessionCaller {
  if (credentials !== undefined && isOfSession(credentials)) return credentials
  throw new AppError('UNAUTHORIZED', 'The cookie of a session is missing; open one with POST /auth/v1/session')
}

/** Returns the caller by its credentials. */
function checkedOf({ credentials }: FastifyRequest): CheckedCaller {
  if (credentials !== undefined) return credentials
  throw new AppError('UNAUTHORIZED', 'Credentials are missing')
}

function shownSession({ user, tenant, rights, session, ends }: SessionCaller): Decoded<typeof SessionSchema> {
  const scopes = SCOPES.filter((scope) => scope !== 'provision' && hasScope(rights, scope))
  return { user, tenant, scopes, csrf: session.csrf, expires: new Date(ends).toISOString() }
}

function sendSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { token, caller }: NewSession,
  ownUrl: string | undefined,
): FastifyReply {
  return reply
    .code(201)
    .header('set-cookie', cookieOf(SESSION_COOKIE, token, SESSION_MS / 1_000, isSecure(request, ownUrl)))
    .header('cache-control', 'no-store')
    .send(shownSession(caller))
}

function isSecure({ protocol }: FastifyRequest, ownUrl: string | undefined): boolean {
  return protocol === 'https' || ownUrl?.startsWith('https:') === true
}

function cookieOf(name: string, value: string, seconds: number, isSecured: boolean, site: 'Strict' | 'Lax' = 'Strict') {
  return `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=${site}${isSecured ? '; Secure' : ''}`
}
