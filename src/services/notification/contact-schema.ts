/** Schemas of contacts and their channels, with limits. */
import { Type } from 'typebox'
import {
  CHECKED,
  checked,
  closed,
  type Decoded,
  DOCUMENT_HEAD,
  type Problem,
  readOnly,
  refined,
  text,
} from '#services/shared/contract'
import { isPlainObject, type Json, shown } from '#kernel'

const MAX_CHANNELS = 10
const MAX_HEADERS = 20

export const CHANNEL_TYPES = ['email', 'webhook', 'mqtt'] as const
export type ChannelType = (typeof CHANNEL_TYPES)[number]

const Text = Type.String()
const secret = closed(
  { vault: text(100, { minLength: 1, description: 'the name of a secret in the vault' }) },
  { description: 'a secret, by its name in the vault', ...CHECKED },
)
export type SecretName = Decoded<typeof secret>

const ADDRESS = String.raw`^[^\s@<>(),;:"\\\[\]]{1,64}@[^\s@<>(),;:"\\\[\]]{1,250}$`
const HEADER_NAME = String.raw`^[A-Za-z][A-Za-z0-9-]{0,99}$`
/** headers that the host sets itself, or that change how the request is sent */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'host',
  'idempotency-key',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

function oneLine(value: unknown): readonly Problem[] {
  if (typeof value !== 'string' || !/\p{Cc}/u.test(value)) return []
  return [{ message: 'has a line break or another control character', suggestion: 'write one line' }]
}

const address = refined(
  text(320, { pattern: ADDRESS, description: 'a mail address such as ann@example.com' }),
  (value) => {
    if (typeof value === 'string' && new RegExp(ADDRESS).test(value) && oneLine(value).length === 0) return []
    return [{ message: `${shown(value)} is not a valid mail address`, suggestion: 'write one such as ann@example.com' }]
  },
)

const headers = refined(
  Type.Record(Type.String({ pattern: HEADER_NAME }), Type.Union([text(2_000), secret]), {
    description: 'headers of the request; values are texts or secrets of the vault',
  }),
  (value) => {
    if (!isPlainObject(value)) return []
    const names = Object.keys(value)
    const wrong = names.flatMap((name): readonly Problem[] => {
      if (!new RegExp(HEADER_NAME).test(name))
        return [{ at: `/${name.slice(0, 100)}`, message: 'is not a valid name of a header' }]
      if (OWN_HEADERS.has(name.toLowerCase())) return [{ at: `/${name}`, message: 'is set by the host; omit it' }]
      return oneLine(value[name]).map((problem) => ({ ...problem, at: `/${name}` }))
    })
    return names.length > MAX_HEADERS
      ? [{ message: `has ${names.length} headers`, suggestion: `at most ${MAX_HEADERS}` }]
      : wrong
  },
)

const CHANNEL = closed(
  {
    type: Type.Enum([...CHANNEL_TYPES]),
    to: Type.Optional(Type.Array(address, { minItems: 1, maxItems: 20, description: 'of email: addresses' })),
    url: Type.Optional(
      Type.Union([text(2_000, { pattern: String.raw`^(?:https?|mqtts?|wss?)://\S+$` }), secret], {
        description: 'of webhook: address, or a secret that contains it; of mqtt: the broker',
      }),
    ),
    headers: Type.Optional(headers),
    body: Type.Optional(
      Type.Unsafe<Json>(
        Type.Unknown({
          description:
            'of webhook and mqtt: JSON with placeholders such as {{{alarm.text}}}; default: the notification',
        }),
      ),
    ),
    topic: Type.Optional(text(1_000, { minLength: 1, description: 'of mqtt; may contain placeholders', ...CHECKED })),
    user: Type.Optional(refined(text(500, { minLength: 1 }), oneLine)),
    password: Type.Optional(secret),
    severities: Type.Optional(
      Type.Array(Type.Enum(['CRITICAL', 'MAJOR', 'MINOR', 'WARNING']), {
        minItems: 1,
        maxItems: 4,
        description: 'only for these severities; default: all',
      }),
    ),
  },
  { title: 'NotificationChannel' },
)

const NEEDED: Readonly<Record<ChannelType, readonly string[]>> = {
  email: ['to'],
  webhook: ['url'],
  mqtt: ['url', 'topic'],
}
const ALLOWED: Readonly<Record<ChannelType, readonly string[]>> = {
  email: ['to'],
  webhook: ['url', 'headers', 'body'],
  mqtt: ['url', 'topic', 'user', 'password', 'body'],
}

const channel = refined(CHANNEL, (value): readonly Problem[] => {
  if (!isPlainObject(value)) return []
  const type = CHANNEL_TYPES.find((one) => one === value['type'])
  if (type === undefined) return []
  const missing = NEEDED[type].filter((name) => value[name] === undefined)
  const known = new Set(['type', 'severities', ...ALLOWED[type]])
  const extra = Object.keys(value).filter((name) => Object.hasOwn(CHANNEL.properties, name) && !known.has(name))
  const { url } = value
  const isHttp = typeof url === 'string' && /^https?:/.test(url)
  const isWrong = typeof url === 'string' && type !== 'email' && isHttp !== (type === 'webhook')
  return [
    ...missing.map((name) => ({ at: `/${name}`, message: 'is required' })),
    ...extra.map((name) => ({ at: `/${name}`, message: `is not allowed for ${type}`, suggestion: 'omit it' })),
    ...(isWrong
      ? [{ at: '/url', message: 'has the wrong scheme', suggestion: type === 'webhook' ? 'https://' : 'mqtts://' }]
      : []),
  ]
})
export type Channel = Decoded<typeof CHANNEL>

const CONTACT = {
  description: Type.Optional(text(1_000)),
  channels: Type.Array(channel, { minItems: 1, maxItems: MAX_CHANNELS }),
}
const configuration = closed({ ...CONTACT, ...readOnly(Object.keys(DOCUMENT_HEAD)) }, { title: 'ContactConfiguration' })
export const ContactConfiguration = checked(configuration, { subject: 'the contact' })
export type ContactDocument = Decoded<ReturnType<typeof closed<typeof CONTACT>>>

export const ContactSchema = Type.Object({ ...DOCUMENT_HEAD, ...CONTACT }, { title: 'Contact' })
export interface Contact extends Decoded<typeof ContactSchema> {}

export const TestedSchema = Type.Object(
  {
    channels: Type.Array(
      Type.Object({
        type: Type.Enum([...CHANNEL_TYPES]),
        ok: Type.Boolean(),
        receipt: Type.Optional(Text),
        problem: Type.Optional(Text),
      }),
    ),
  },
  { title: 'TestedContact' },
)
export interface TestedContact extends Decoded<typeof TestedSchema> {}
