/** Bodies of keys, devices and sessions. */
import { Type } from 'typebox'
import { type KeyResources, makeIssue, refuse, type Rights, SCOPES } from '#kernel'
import type { KeyEntry, NewKey } from './api-keys.ts'
import { checked, closed, type Decoded, id, instant, refined, text } from '#services/shared/contract'

const MAX_NAME = 200
const MAX_SECRET = 256
const MAX_GRACE_S = 30 * 86_400

const Name = text(MAX_NAME, { minLength: 1 })
const Scopes = Type.Array(Type.Enum([...SCOPES]))
const Time = Type.String({ description: 'ISO 8601' })
const Resources = refined(
  closed(
    {
      ids: Type.Optional(Type.Array(id, { minItems: 1, maxItems: 1_000 })),
      prefix: Type.Optional(id),
      resourceTypeId: Type.Optional(id),
    },
    { description: 'the resources of a device key: their ids, a prefix of their ids, or their type' },
  ),
  (value) => {
    const count = typeof value === 'object' && value !== null ? Object.keys(value).length : 1
    return count === 1
      ? []
      : [{ message: `has ${count} fields`, suggestion: 'write one of ids, prefix, resourceTypeId' }]
  },
)

export const NewKeyBody = checked(
  refined(
    closed({
      name: Type.Optional(Name),
      scopes: Type.Optional(
        Type.Array(Type.Enum(SCOPES.filter((scope) => scope !== 'provision')), {
          minItems: 1,
          maxItems: SCOPES.length,
        }),
      ),
      resources: Type.Optional(Resources),
      expires: Type.Optional(instant),
      provisioning: Type.Optional(Type.Boolean({ description: 'true: the key can only enrol devices' })),
    }),
    (value) => {
      const {
        scopes,
        resources,
        provisioning = false,
      } = value as {
        readonly scopes?: unknown
        readonly resources?: unknown
        readonly provisioning?: unknown
      }
      const isDevice = Array.isArray(scopes) && scopes.length === 1 && scopes[0] === 'device'
      if (provisioning === true) {
        const hasOthers = scopes !== undefined && !isDevice
        return hasOthers ? [{ at: '/scopes', message: 'a provisioning key has none', suggestion: 'omit it' }] : []
      }
      if (scopes === undefined) return [{ message: 'lacks scopes', suggestion: 'name at least one, such as "read"' }]
      if (resources === undefined || isDevice) return []
      const suggestion = 'omit it, or write "scopes": ["device"]'
      return [{ at: '/resources', message: 'requires a key whose only scope is device', suggestion }]
    },
  ),
  { subject: 'the key' },
)

export const RotationBody = checked(
  closed({
    graceSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_GRACE_S,
        description: 'time for which the previous secret stays valid; default 0',
      }),
    ),
  }),
  { subject: 'the rotation' },
)

export const DeviceBody = checked(closed({ resource: id, name: Type.Optional(Name) }), { subject: 'the device' })

export const SessionBody = checked(
  refined(
    closed({
      key: Type.Optional(text(MAX_NAME, { description: 'with its secret' })),
      secret: Type.Optional(text(MAX_SECRET)),
      link: Type.Optional(text(100, { description: 'code of a one-time link, instead of a key' })),
    }),
    (value) => {
      const { key, secret, link } = value as Readonly<Record<string, unknown>>
      const isPair = key !== undefined && secret !== undefined && link === undefined
      const isLink = link !== undefined && key === undefined && secret === undefined
      if (isPair || isLink) return []
      return [{ message: 'lacks credentials', suggestion: 'write key and secret, or link' }]
    },
  ),
  { subject: 'the session' },
)

const key = { key: Type.String(), tenant: Type.String() }

export const KeySchema = Type.Object(
  {
    ...key,
    name: Type.Optional(Type.String()),
    scopes: Scopes,
    resources: Type.Optional(Type.Unsafe<KeyResources>(Type.Object({}))),
    createTime: Time,
    expires: Type.Optional(Time),
  },
  { title: 'Key' },
)
export const KeysSchema = Type.Object({ keys: Type.Array(KeySchema) }, { title: 'Keys' })
export const NewPairSchema = Type.Object(
  { ...key, secret: Type.String({ description: 'shown only here' }) },
  { title: 'KeyPair' },
)
export const SessionSchema = Type.Object(
  {
    user: Type.String(),
    tenant: Type.String(),
    scopes: Scopes,
    csrf: Type.String({ description: 'value of the header x-reflexarc-csrf of each write' }),
    expires: Time,
  },
  { title: 'Session' },
)
export const SessionsSchema = Type.Object(
  {
    sessions: Type.Array(
      Type.Object({ id: Type.String(), user: Type.String(), scopes: Scopes, createTime: Time, expires: Time }),
    ),
  },
  { title: 'Sessions' },
)
export const LinkSchema = Type.Object(
  { link: Type.String({ description: 'opens one session' }), path: Type.String(), expires: Time },
  { title: 'SessionLink' },
)
export const ErrorSchema = Type.Object(
  {
    statusCode: Type.Integer(),
    error: Type.String(),
    code: Type.String(),
    details: Type.Optional(Type.Array(Type.Unknown())),
  },
  { title: 'HostError' },
)

/** Reads a new key. Throws `VALIDATION` with all problems. `now`: epoch ms. */
export function newKeyOf(body: unknown, tenant: string, now: number): NewKey {
  const { name, scopes = [], resources, expires, provisioning = false } = NewKeyBody.read(body)
  if (expires !== undefined && expires <= now) {
    throw refuse('the key', [makeIssue('BODY', '/expires', 'is in the past', 'write a time in the future, or omit it')])
  }
  const limited = resources === undefined ? {} : { resources: resources as KeyResources }
  const rights: Rights = { scopes: provisioning ? ['provision'] : scopes, ...limited }
  return { tenant, rights, ...(name !== undefined && { name }), ...(expires !== undefined && { expires }) }
}

export type ShownKey = Decoded<typeof KeySchema>

export function shownKey({ key, tenant, name, rights, createTime, expires }: KeyEntry): ShownKey {
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
