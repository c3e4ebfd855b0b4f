/** What subscriptions and deliveries look like: for whoever reads the page of the API, and for clients made of it. */
import { Type } from 'typebox'
import { AUTHENTICATION_METHODS, CHANGE_EVENTS, CHANNEL_METHODS, CHANNEL_TYPES, DELIVERY_STATES } from './contract.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))
const length = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }))
const Links = Type.Record(Type.String(), Type.Object({ href: Type.String(), method: Type.Optional(Type.String()) }))
const Store = Type.Object({}, { additionalProperties: true, description: 'the bucket, as a list of buckets has it' })

const EXPIRY = Type.Object(
  { seconds: length('seconds'), hours: length('hours'), days: length('days') },
  { description: 'added together: how long links and tokens are good; at most 7 days, 300 seconds without' },
)
const CHANNEL = {
  name: Type.String({ description: 'of the webscript' }),
  version: text('of the webscript: exact, or a range; the latest published one without'),
  method: Type.Enum([...CHANNEL_METHODS], { description: 'GET has the event in its query, the others in the body' }),
  description: text('for people'),
  expiry: Type.Optional(EXPIRY),
  payload: Type.Object({
    signed_links: Type.Array(Type.Enum([...CHANNEL_METHODS]), { description: 'links that the message has' }),
    reference: Type.Optional(Type.Unknown({ description: 'copied into each message' })),
  }),
}
const AUTHENTICATION = {
  method: Type.Optional(Type.Enum([...AUTHENTICATION_METHODS], { description: 'NONE without' })),
  key: text('with API_KEY and SERVICE_TOKEN'),
}
const FILTER = {
  prefix: text('what paths begin with'),
  suffix: text('what paths end with'),
  events: Type.Optional(Type.Array(Type.Enum([...CHANGE_EVENTS]), { description: 'put alone without' })),
  description: text('for people'),
}
const ABOUT = { title: text('for people'), description: text('for people') }

export const SentSubscriptionSchema = Type.Object(
  {
    id: text('1 to 128 letters, digits or . _ : ~ -; made when left out'),
    ...ABOUT,
    channel: Type.Object({
      type: Type.Enum(['webscript']),
      ...CHANNEL,
      authentication: Type.Object({
        ...AUTHENTICATION,
        secret: text('in clear; what an answer showed, which begins with enc:, keeps the secret that is there'),
      }),
    }),
    filters: Type.Array(Type.Object(FILTER), { minItems: 1, maxItems: 100 }),
  },
  { title: 'SentSubscription' },
)
export const SubscriptionSchema = Type.Object(
  {
    _links: Links,
    id: Type.String(),
    ...ABOUT,
    channel: Type.Object({
      type: Type.Enum([...CHANNEL_TYPES]),
      ...CHANNEL,
      authentication: Type.Object({ ...AUTHENTICATION, secret: text('sealed') }),
    }),
    filters: Type.Array(Type.Object({ ...FILTER, queue: Type.String({ description: 'where it is registered' }) })),
  },
  { title: 'Subscription' },
)
const BucketSubscriptions = {
  _links: Links,
  bucket: Store,
  subscriptions: Type.Array(SubscriptionSchema),
}
export const BucketSubscriptionsSchema = Type.Object(BucketSubscriptions, { title: 'BucketSubscriptions' })
export const OverviewSchema = Type.Object(
  { _links: Links, bucket_subscriptions: Type.Array(Type.Object(BucketSubscriptions)) },
  { title: 'SubscriptionOverview' },
)
export const DeliveriesSchema = Type.Object(
  {
    _links: Links,
    deliveries: Type.Array(
      Type.Object({
        id: Type.String(),
        state: Type.Enum([...DELIVERY_STATES]),
        event: Type.Enum([...CHANGE_EVENTS]),
        object: Type.String({ description: 'its path' }),
        event_time: Type.String(),
        attempts: Type.Integer(),
        ended: text('when it was delivered, or given up'),
        last_error: Type.Optional(
          Type.Object({
            time: Type.String(),
            message: Type.String(),
            status: Type.Optional(Type.Integer({ description: 'that the target answered with' })),
          }),
        ),
      }),
    ),
  },
  { title: 'Deliveries' },
)

export const SUBSCRIPTION_QUERY = {
  prefix: text('those that an object whose path begins like this may set off'),
  suffix: text('those that an object whose path ends like this may set off'),
  event_type: Type.Optional(Type.Enum([...CHANGE_EVENTS], { description: 'those of such a change' })),
  channel_type: Type.Optional(Type.Enum([...CHANNEL_TYPES, 'webhook'], { description: 'of the channel' })),
  channel_id: text('a part of the name of the channel'),
  max_keys: Type.Optional(Type.Integer({ minimum: 1, description: 'of a page; default 200, at most 1,000' })),
  start_after: text('those after this id'),
  store: text('name of a store: only buckets in it'),
}
export const DELIVERIES_QUERY = {
  state: Type.Optional(Type.Enum([...DELIVERY_STATES], { description: 'those in this state' })),
  max_keys: Type.Optional(Type.Integer({ minimum: 1, description: 'of a page; default 200, at most 1,000' })),
  before: Type.Optional(Type.Integer({ minimum: 1, description: 'those of changes before this position' })),
}
