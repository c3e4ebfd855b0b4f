/** Schemas of subscriptions and deliveries. */
import { type TObject, Type } from 'typebox'
import {
  checked,
  closed,
  type Decoded,
  nullable,
  type Problem,
  readOnly,
  refined,
  secret,
  text,
} from '#services/shared/contract'
import { type Json, shown } from '#kernel'
import { MAX_EXPIRY, MAX_PATH_BYTES } from '../contract.ts'
import { optionalText, Links, ListedBucketSchema, orNull, PAGE_SIZE, STORE, Text } from '../object-schema.ts'

const CHANNEL_TYPES = ['webscript', 'system'] as const
const CHANNEL_METHODS = ['GET', 'PUT', 'POST'] as const
const CHANGE_EVENTS = ['put', 'delete'] as const
const DELIVERY_STATES = ['waiting', 'active', 'delivered', 'failed'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]
const AUTHENTICATION_METHODS = ['NONE', 'API_KEY', 'TOKEN', 'SERVICE_TOKEN', 'WEBSCRIPT'] as const
/** the value that clients of the original platform send for SERVICE_TOKEN */
const ALIAS = 'WAYLAY_TOKEN'
const KEYED: ReadonlySet<unknown> = new Set(['API_KEY', 'SERVICE_TOKEN', ALIAS])

const MAX_NAME = 512
const MAX_TEXT = 2_000
const MAX_SECRET = 4_096
const MAX_FILTERS = 100
const MAX_ITEMS = 20
const MAX_REFERENCE = 100_000
const SECONDS = { seconds: 1, hours: 3_600, days: 86_400 } as const

const id = Type.String({
  pattern: String.raw`^(?!\.{1,2}$)[\w.:~\-]{1,128}$`,
  description: '1 to 128 letters, digits or . _ : ~ -; default: generated',
})
export const SubscriptionPath = checked(Type.Object({ id }), { subject: 'the address', type: 'PATH' })

const about = (description = 'for people') => Type.Optional(text(MAX_TEXT, { description }))
const credential = (description: string, schema = text(MAX_SECRET, { minLength: 1, description })) =>
  refined(schema, (value) =>
    typeof value === 'string' && /[\0-\u001f\u007f]/.test(value)
      ? [{ message: 'has a control character, which headers cannot contain', suggestion: 'remove it' }]
      : [],
  )
const SECRET = `plain text of at most ${MAX_SECRET} characters; the text of a response, which begins with enc:, keeps the stored secret`
const part = (description: string) =>
  Type.Optional(
    refined(text(MAX_PATH_BYTES, { description }), (value) =>
      typeof value === 'string' && Buffer.byteLength(value) > MAX_PATH_BYTES
        ? [{ message: `has more than ${MAX_PATH_BYTES} bytes`, suggestion: 'it must be a part of a path' }]
        : [],
    ),
  )
const length = (part: keyof typeof SECONDS) => Type.Number({ minimum: 0, maximum: MAX_EXPIRY / SECONDS[part] })
const LENGTHS = { seconds: length('seconds'), hours: length('hours'), days: length('days') }
const EXPIRY = {
  description: 'validity of links and tokens: the sum of the fields, at most 7 days; default 300 seconds',
}

const ABOUT = { title: about(), description: about() }
const CHANNEL = {
  name: text(MAX_NAME, { minLength: 1, description: 'name of the webscript' }),
  version: about('exact version of the webscript, or a range; default: the latest published version'),
  method: Type.Enum(CHANNEL_METHODS, {
    description: 'GET sends the event in the query, the other methods in the body',
  }),
  description: about(),
}
const PAYLOAD = {
  signed_links: Type.Array(Type.Enum(CHANNEL_METHODS), {
    maxItems: MAX_ITEMS,
    description: 'links in the message',
  }),
  reference: Type.Optional(
    refined(
      Type.Unsafe<Json>(Type.Unknown({ description: `copied into each message; at most ${MAX_REFERENCE} characters` })),
      (value) => {
        const { length: found } = JSON.stringify(value)
        return found > MAX_REFERENCE
          ? [{ message: `has ${found} characters`, suggestion: `at most ${MAX_REFERENCE}` }]
          : []
      },
    ),
  ),
}
const KEY = { key: Type.Optional(credential('with API_KEY and SERVICE_TOKEN')) }
const FILTER = { prefix: part('prefix of paths'), suffix: part('suffix of paths'), description: about() }
const events = Type.Array(Type.Enum(CHANGE_EVENTS), {
  minItems: 1,
  maxItems: MAX_ITEMS,
  description: 'default: only put',
})

const SENT = {
  ...orNull(ABOUT),
  channel: closed({
    type: Type.Enum(['webscript']),
    ...orNull(CHANNEL),
    expiry: Type.Optional(
      nullable(
        refined(
          closed(
            {
              seconds: Type.Optional(nullable(LENGTHS.seconds)),
              hours: Type.Optional(nullable(LENGTHS.hours)),
              days: Type.Optional(nullable(LENGTHS.days)),
            },
            EXPIRY,
          ),
          wrongExpiry,
        ),
      ),
    ),
    payload: closed(PAYLOAD),
    authentication: refined(
      closed({
        ...orNull({
          method: Type.Optional(
            Type.Decode(Type.Enum([...AUTHENTICATION_METHODS, ALIAS], { description: 'NONE without' }), (method) =>
              method === ALIAS ? 'SERVICE_TOKEN' : method,
            ),
          ),
          ...KEY,
        }),
        secret: Type.Optional(credential(SECRET, secret(MAX_SECRET, { minLength: 1, description: SECRET }))),
      }),
      wrongCredentials,
    ),
  }),
  filters: Type.Array(closed({ ...orNull({ ...FILTER, events: Type.Optional(events) }), ...readOnly(['queue']) }), {
    minItems: 1,
    maxItems: MAX_FILTERS,
  }),
}
export const NewSubscription = checked(
  closed({ ...orNull({ id: Type.Optional(id) }), ...SENT, ...readOnly(['_links']) }, { title: 'SentSubscription' }),
  { subject: 'the subscription' },
)
export const SubscriptionInPlace = checked(
  closed({ ...SENT, ...readOnly(['id', '_links']) }, { title: 'SubscriptionInPlace' }),
  { subject: 'the subscription' },
)
export type SentSubscription = ReturnType<typeof SubscriptionInPlace.read>

const SHOWN = {
  id: Text,
  ...ABOUT,
  channel: Type.Object({
    type: Type.Enum(CHANNEL_TYPES),
    ...CHANNEL,
    expiry: Type.Object(
      {
        seconds: Type.Optional(LENGTHS.seconds),
        hours: Type.Optional(LENGTHS.hours),
        days: Type.Optional(LENGTHS.days),
      },
      EXPIRY,
    ),
    payload: Type.Object(PAYLOAD),
    authentication: Type.Object({
      method: Type.Enum(AUTHENTICATION_METHODS),
      ...KEY,
      secret: Type.Optional(
        Type.String({ description: 'encrypted: `enc:` and a text that only this host can decrypt' }),
      ),
    }),
  }),
  filters: Type.Array(
    Type.Object({ ...FILTER, events, queue: Type.String({ description: 'bucket of the subscription' }) }),
  ),
}
const StoredSchema = Type.Object(SHOWN)
export interface Subscription extends Decoded<typeof StoredSchema> {}
export type Channel = Subscription['channel']
export type Filter = Subscription['filters'][number]

export const SubscriptionSchema = Type.Object({ _links: Links, ...SHOWN }, { title: 'Subscription' })
const BucketSubscriptions = {
  _links: Links,
  bucket: ListedBucketSchema,
  subscriptions: Type.Array(SubscriptionSchema),
}
export const BucketSubscriptionsSchema = Type.Object(BucketSubscriptions, { title: 'BucketSubscriptions' })
export const OverviewSchema = Type.Object(
  { _links: Links, bucket_subscriptions: Type.Array(Type.Object(BucketSubscriptions)) },
  { title: 'SubscriptionOverview' },
)

const DeliverySchema = Type.Object({
  id: Text,
  state: Type.Enum(DELIVERY_STATES),
  event: Type.Enum(CHANGE_EVENTS),
  object: Type.String({ description: 'its path' }),
  event_time: Type.String({ description: 'of the change' }),
  attempts: Type.Integer(),
  ended: Type.Optional(Type.String({ description: 'time of the delivery, or of the final failure' })),
  last_error: Type.Optional(
    Type.Object({
      time: Text,
      message: Text,
      status: Type.Optional(Type.Integer({ description: 'status of the response of the target' })),
    }),
  ),
})
export interface Delivery extends Decoded<typeof DeliverySchema> {}
export const DeliveriesSchema = Type.Object(
  { _links: Links, deliveries: Type.Array(DeliverySchema) },
  { title: 'Deliveries' },
)

const FILTERS = {
  prefix: optionalText('subscriptions that match objects with this prefix of the path'),
  suffix: optionalText('subscriptions that match objects with this suffix of the path'),
  event_type: Type.Optional(Type.Enum(CHANGE_EVENTS, { description: 'deliveries of such changes' })),
  channel_type: Type.Optional(Type.Enum([...CHANNEL_TYPES, 'webhook'], { description: 'of the channel' })),
  channel_id: optionalText('a part of the name of the channel'),
  ...PAGE_SIZE,
  start_after: optionalText('entries after this id'),
}
export const SUBSCRIPTION_QUERY = { ...FILTERS, ...STORE }
export interface SubscriptionQuery extends Decoded<TObject<typeof FILTERS>> {}
export const DELIVERIES_QUERY = {
  state: Type.Optional(Type.Enum(DELIVERY_STATES, { description: 'only entries in this state' })),
  ...PAGE_SIZE,
  before: Type.Optional(Type.Integer({ minimum: 1, description: 'deliveries of changes before this position' })),
}
export interface DeliveryQuery extends Decoded<TObject<typeof DELIVERIES_QUERY>> {}

export function secondsOf(expiry: Readonly<Record<string, unknown>>): number {
  return Object.entries(SECONDS).reduce((sum, [part, seconds]) => sum + Number(expiry[part] ?? 0) * seconds, 0)
}

function wrongExpiry(value: unknown): readonly Problem[] {
  const expiry = value as Readonly<Record<string, unknown>>
  const isThere = Object.keys(SECONDS).some((part) => (expiry[part] ?? undefined) !== undefined)
  const total = secondsOf(expiry)
  if (!isThere || Number.isNaN(total) || (total >= 1 && total <= MAX_EXPIRY)) return []
  return [{ message: `makes ${total} seconds`, suggestion: `links and tokens are valid for 1 to ${MAX_EXPIRY} s` }]
}

function wrongCredentials(value: unknown): readonly Problem[] {
  const { method: named, key, secret } = value as Readonly<Record<string, unknown>>
  const method = named ?? 'NONE'
  const held = (name: string, value: unknown, isNeeded: boolean): readonly Problem[] => {
    if ((value ?? undefined) === undefined)
      return isNeeded ? [{ at: `/${name}`, message: `is required with the method ${shown(method)}` }] : []
    if (isNeeded) return []
    return [{ at: `/${name}`, message: `has no effect with the method ${shown(method)}`, suggestion: 'omit it' }]
  }
  return [...held('key', key, KEYED.has(method)), ...held('secret', secret, method !== 'NONE')]
}
