/** Routes of keys, devices and sessions. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import {
  AppError,
  type Caller,
  hasScope,
  type KeyResources,
  makeIssue,
  refuse,
  type Rights,
  SCOPES,
  shown,
} from '#kernel'
import { addRoutes, foreignPage, refusedPage, routesOf } from '#services/shared'
import type { Decoded } from '#services/shared/contract'
import type { ApiKeys, KeyEntry, KeyPair } from './api-keys.ts'
import {
  ErrorSchema,
  type KeySchema,
  KeysSchema,
  LinkSchema,
  NewKeyBody,
  NewPairSchema,
  RotationBody,
  SessionBody,
  SessionSchema,
  SessionsSchema,
} from './auth-schema.ts'
import { SESSION_COOKIE } from './authenticate.ts'
import { type CheckedCaller, isOfSession, type SessionCaller } from './caller.ts'
import type { CheckPair } from './check-pair.ts'
import type { KeyChanges } from './key-changes.ts'
import { type NewSession, SESSION_MS, type Sessions } from './sessions.ts'

export interface AuthRoutes {
  readonly keys: ApiKeys
  readonly sessions: Sessions
  readonly changes: KeyChanges
  readonly checkPair: CheckPair
  /** Returns epoch ms */
  readonly now: () => number
  readonly ownUrl?: string | undefined
}

interface AuthApi extends AuthRoutes {
  readonly caller: Caller
}

const route = routesOf<AuthApi>()
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
    handler: async ({ api: { keys, caller } }) => ({ keys: (await keys.list(caller.tenant)).map(shownKey) }),
  }),
  route({
    method: 'POST',
    path: '/auth/v1/keys',
    scope: 'admin',
    summary: 'Make a key; its secret is only in this answer',
    body: NewKeyBody,
    answers: { 201: NewPairSchema },
    handler: async ({ api: { keys, caller, changes, now }, body, reply }) => {
      const { name, expires } = body
      if (expires !== undefined && expires <= now()) {
        const issue = makeIssue('BODY', '/expires', 'is in the past', 'write a time to come, or leave it out')
        throw refuse('the key', [issue])
      }
      const rights = rightsOf(body)
      const { tenant } = caller
      const made = { tenant, rights, ...(name !== undefined && { name }), ...(expires !== undefined && { expires }) }
      const pair = await keys.make(made)
      await changes.announce()
      return sendPair(reply, pair)
    },
  }),
  route({
    method: 'POST',
    path: '/auth/v1/keys/:key/rotate',
    scope: 'admin',
    summary: 'Replace the secret of a key; the former one stays valid for `graceSeconds`',
    body: RotationBody,
    answers: { 201: NewPairSchema },
    handler: async ({ api, params: { key }, body, reply }) => {
      await requireKey(api, key)
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
    handler: async ({ api, params: { key }, reply }) => {
      await requireKey(api, key)
      await api.keys.remove(key)
      await api.changes.announce()
      return reply.code(204).send()
    },
  }),
]

const SESSION_ROUTES = [
  route({
    method: 'POST',
    path: '/auth/v1/session',
    scope: 'public',
    summary: 'Open a session with a key or a one-time link, as a cookie',
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
    handler: async ({ api: { sessions, caller }, request, reply }) => {
      await sessions.remove(caller.tenant, sessionOf(request).session.id)
      return reply
        .header('set-cookie', cookieOf('', 0, false))
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
    handler: async ({ api: { sessions, caller } }) => ({ sessions: await sessions.list(caller.tenant) }),
  }),
  route({
    method: 'DELETE',
    path: '/auth/v1/sessions/:id',
    scope: 'admin',
    summary: 'End a session',
    operation: { operationId: 'deleteAuthV1SessionById' },
    answers: noContent,
    handler: async ({ api: { sessions, caller }, params: { id }, reply }) => {
      if (!(await sessions.remove(caller.tenant, id))) {
        throw new AppError('NOT_FOUND', `unknown session ${shown(id)}; GET /auth/v1/sessions lists all`)
      }
      return reply.code(204).send()
    },
  }),
  route({
    method: 'POST',
    path: '/auth/v1/links',
    scope: 'any',
    summary: 'Make a one-time link that opens a session with the rights of the caller',
    answers: { 201: LinkSchema },
    handler: async ({ api: { sessions }, request, reply }) => {
      const { code, expires } = await sessions.link(checkedOf(request))
      const path = `${CONSOLE_LINK}${code}`
      return reply.code(201).send({ link: code, path, expires: new Date(expires).toISOString() })
    },
  }),
]

export function authRoutes(app: FastifyInstance, parts: AuthRoutes): Promise<void> {
  const service = { as: (caller: Caller): AuthApi => ({ ...parts, caller }) }
  return addRoutes(app, service, { tag: 'auth', errors: ErrorSchema, routes: [...KEY_ROUTES, ...SESSION_ROUTES] })
}

function rightsOf({ scopes, resources, provisioning = false }: Decoded<typeof NewKeyBody.schema>): Rights {
  const limited = resources === undefined ? {} : { resources: resources as KeyResources }
  return { scopes: provisioning ? ['provision'] : (scopes ?? []), ...limited }
}

function shownKey({ key, tenant, name, rights, createTime, expires }: KeyEntry): Decoded<typeof KeySchema> {
  const { scopes, resources } = rights
  return {
    key,
    tenant,
    ...(name !== undefined && { name }),
    scopes,
    ...(resources && { resources }),
    createTime,
    ...(expires !== undefined && { expires: new Date(expires).toISOString() }),
  }
}

async function requireKey({ keys, caller }: AuthApi, key: string): Promise<void> {
  if ((await keys.ownerOf(key)) !== caller.tenant) throw unknownKey(key)
}

function unknownKey(key: string): AppError {
  return new AppError('NOT_FOUND', `unknown key ${shown(key)}; GET /auth/v1/keys lists all`)
}

function sendPair(reply: FastifyReply, { key, tenant, secret }: KeyPair): FastifyReply {
  return reply.code(201).header('cache-control', 'no-store').send({ key, tenant, secret })
}

function sessionOf({ credentials }: FastifyRequest): SessionCaller {
  if (credentials !== undefined && isOfSession(credentials)) return credentials
  throw new AppError('UNAUTHORIZED', 'The cookie of a session is missing; open one with POST /auth/v1/session')
}

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
  const isSecure = request.protocol === 'https' || ownUrl?.startsWith('https:') === true
  return reply
    .code(201)
    .header('set-cookie', cookieOf(token, SESSION_MS / 1_000, isSecure))
    .header('cache-control', 'no-store')
    .send(shownSession(caller))
}

function cookieOf(token: string, seconds: number, isSecure: boolean): string {
  const secure = isSecure ? '; Secure' : ''
  return `${SESSION_COOKIE}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`
}
