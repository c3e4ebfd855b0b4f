/** Subscriptions over HTTP. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { asking, describing, type Handler, QueryReader, type RequestContext } from '#services/shared'
import type { ObjectBucket, ObjectsService } from '../contract.ts'
import { inOwnScope } from '../own-scope.ts'
import { ErrorSchema, LinksSchema } from '../routes/schemas.ts'
import { BASE, shownBucket } from '../show.ts'
import {
  CHANGE_EVENTS,
  CHANNEL_TYPES,
  DELIVERY_STATES,
  type Delivery,
  type Subscription,
  type SubscriptionQuery,
  type SubscriptionsApi,
  type SubscriptionsService,
} from './contract.ts'
import {
  BucketSubscriptionsSchema,
  DELIVERIES_QUERY,
  DeliveriesSchema,
  OverviewSchema,
  SentSubscriptionSchema,
  SUBSCRIPTION_QUERY,
  SubscriptionSchema,
} from './schemas.ts'

export interface SubscriptionsRouting {
  readonly service: SubscriptionsService
  readonly objects: () => ObjectsService
}

/** Where the paths are: there, and as object storage on a host of its own would have them. */
const BASES = [BASE, ''] as const

type Handle = Handler<SubscriptionsApi, QueryReader>
type Context = RequestContext<SubscriptionsApi, QueryReader>
const ask = asking<SubscriptionsApi, QueryReader>((query) => new QueryReader(query))
const described = describing('subscriptions', ErrorSchema)

export async function subscriptionsRoutes(app: FastifyInstance, routing: SubscriptionsRouting): Promise<void> {
  await inOwnScope(app, (own) => {
    for (const base of BASES) addRoutes(own, base, routing)
  })
}

function addRoutes(app: FastifyInstance, base: string, { service, objects }: SubscriptionsRouting): void {
  const handle = (handler: Handle) => ask(service, handler)
  const hide = base !== BASE
  const shown = (operationId: string, description: Parameters<typeof described>[0]) => {
    const options = described(description)
    return { ...options, schema: { ...options.schema, hide, ...(!hide && { operationId }) } }
  }
  const all = `${base}/subscription`
  const ofBucket = `${all}/:bucket`
  const one = `${ofBucket}/:id`
  const bucketOf = ({ request, param }: Context): Promise<ObjectBucket> =>
    objects().as(callerOf(request)).bucket(param('bucket'))
  app.get(
    all,
    shown('getSubscriptions', {
      summary: 'The buckets that have subscriptions, with these',
      query: SUBSCRIPTION_QUERY,
      answers: { 200: OverviewSchema },
    }),
    handle(async ({ api, query, request }) => {
      const origin = originOf(request)
      const asked = readQuery(query)
      const store = query.text('store')
      query.done()
      const buckets = (await objects().as(callerOf(request)).buckets(store)).filter((each) => each.hasSubscriptions)
      const shownBuckets = buckets.map((bucket) => showPage(api, bucket, asked, query, origin))
      return {
        _links: { self: { href: `${origin}${BASE}/subscription` } },
        bucket_subscriptions: await Promise.all(shownBuckets),
      }
    }),
  )
  app.get(
    ofBucket,
    shown('getBucketSubscriptions', {
      summary: 'The subscriptions of a bucket',
      params: ['bucket'],
      query: SUBSCRIPTION_QUERY,
      answers: { 200: BucketSubscriptionsSchema },
    }),
    handle(async (context) => {
      const asked = readQuery(context.query)
      context.query.done()
      return showPage(context.api, await bucketOf(context), asked, context.query, originOf(context.request))
    }),
  )
  app.post(
    ofBucket,
    shown('postSubscription', {
      summary: 'Subscribe to changes of the objects of a bucket',
      params: ['bucket'],
      body: SentSubscriptionSchema,
      answers: { 200: SubscriptionSchema },
    }),
    handle(async (context) => {
      return show(await context.api.create(context.param('bucket'), context.body), await bucketOf(context), context)
    }),
  )
  app.delete(
    ofBucket,
    shown('deleteSubscriptions', {
      summary: 'Remove the subscriptions of a bucket, or those that are asked for',
      params: ['bucket'],
      query: SUBSCRIPTION_QUERY,
      answers: { 200: LinksSchema },
    }),
    handle(async (context) => {
      const { api, query, param, request } = context
      const asked = readQuery(query)
      query.done()
      const { alias } = await bucketOf(context)
      const { ids, next } = await api.removeAll(param('bucket'), asked)
      const removed = ids.map((id) => ({ href: hrefOf(originOf(request), alias, id) }))
      const page = pageHref(originOf(request), alias, query, next)
      return { _links: { removed, ...(next !== undefined && { next: { href: page, method: 'DELETE' } }) } }
    }),
  )
  app.get(
    one,
    shown('getSubscription', {
      summary: 'A subscription',
      params: ['bucket', 'id'],
      answers: { 200: SubscriptionSchema },
    }),
    handle(async (context) => {
      return show(await context.api.get(context.param('bucket'), context.id), await bucketOf(context), context)
    }),
  )
  app.put(
    one,
    shown('putSubscription', {
      summary: 'Make a subscription, or replace it',
      params: ['bucket', 'id'],
      body: SentSubscriptionSchema,
      answers: { 200: SubscriptionSchema },
    }),
    handle(async (context) => {
      const { api, param, id, body } = context
      return show(await api.put(param('bucket'), id, body), await bucketOf(context), context)
    }),
  )
  app.delete(
    one,
    shown('deleteSubscription', {
      summary: 'Remove a subscription',
      params: ['bucket', 'id'],
      answers: { 200: LinksSchema },
    }),
    handle(async (context) => {
      const { alias } = await bucketOf(context)
      await context.api.remove(alias, context.id)
      return { _links: { removed: { href: hrefOf(originOf(context.request), alias, context.id) } } }
    }),
  )
  app.get(
    `${one}/deliveries`,
    shown('getDeliveries', {
      summary: 'What became of the changes that a subscription was about, newest first',
      params: ['bucket', 'id'],
      query: DELIVERIES_QUERY,
      answers: { 200: DeliveriesSchema },
    }),
    handle(async (context) => {
      const { api, query, id, request } = context
      const state = query.oneOf('state', DELIVERY_STATES)
      const maxKeys = query.integer('max_keys', { least: 1 })
      const before = query.integer('before', { least: 1 })
      query.done()
      const { alias } = await bucketOf(context)
      const { deliveries, next } = await api.deliveries(alias, id, { state, maxKeys, before })
      const self = `${hrefOf(originOf(request), alias, id)}/deliveries`
      const more = new URLSearchParams({ ...(state && { state }), ...(maxKeys && { max_keys: String(maxKeys) }) })
      more.set('before', String(next))
      return {
        _links: { self: { href: self }, ...(next !== undefined && { next: { href: `${self}?${more.toString()}` } }) },
        deliveries: deliveries.map(showDelivery),
      }
    }),
  )
}

function readQuery(query: QueryReader): SubscriptionQuery {
  return {
    prefix: query.text('prefix'),
    suffix: query.text('suffix'),
    eventType: query.oneOf('event_type', CHANGE_EVENTS),
    channelType: query.oneOf('channel_type', [
      ...CHANNEL_TYPES,
      'webhook',
    ] as const) as SubscriptionQuery['channelType'],
    channelId: query.text('channel_id'),
    maxKeys: query.integer('max_keys', { least: 1 }),
    startAfter: query.text('start_after'),
  }
}

async function showPage(
  api: SubscriptionsApi,
  bucket: ObjectBucket,
  asked: SubscriptionQuery,
  query: QueryReader,
  origin: string,
): Promise<object> {
  const { subscriptions, next } = await api.list(bucket.alias, asked)
  const self = hrefOf(origin, bucket.alias)
  return {
    _links: {
      self: { href: self },
      create: { href: self, method: 'POST' },
      ...(next !== undefined && { next: { href: pageHref(origin, bucket.alias, query, next) } }),
    },
    bucket: shownBucket(bucket, origin, 'record'),
    subscriptions: subscriptions.map((each) => shownSubscription(each, bucket, origin)),
  }
}

function show(subscription: Subscription, bucket: ObjectBucket, { request }: Context): object {
  return shownSubscription(subscription, bucket, originOf(request))
}

function shownSubscription(subscription: Subscription, { alias }: ObjectBucket, origin: string): object {
  const self = hrefOf(origin, alias, subscription.id)
  // nobody changes those that the host has by itself
  const isOwn = subscription.channel.type !== 'system'
  return {
    _links: {
      self: { href: self },
      ...(isOwn && { update: { href: self, method: 'PUT' }, remove: { href: self, method: 'DELETE' } }),
      list: { href: hrefOf(origin, alias) },
      deliveries: { href: `${self}/deliveries` },
      bucket: { href: `${origin}${BASE}/bucket/${encodeURIComponent(alias)}` },
    },
    ...subscription,
  }
}

/** Times as texts, and names as the rest of this API has them. */
function showDelivery({ id, state, event, object, time, attempts, ended, lastError }: Delivery): object {
  return {
    id,
    state,
    event,
    object,
    event_time: isoOf(time),
    attempts,
    ...(ended !== undefined && { ended: isoOf(ended) }),
    ...(lastError && { last_error: { ...lastError, time: isoOf(lastError.time) } }),
  }
}

function isoOf(time: number): string {
  return new Date(time).toISOString()
}

function pageHref(origin: string, alias: string, query: QueryReader, next: string | undefined): string {
  const parameters = new URLSearchParams()
  for (const name of query.keys) for (const value of query.texts(name)) parameters.append(name, value)
  if (next !== undefined) parameters.set('start_after', next)
  return `${hrefOf(origin, alias)}?${parameters.toString()}`
}

function hrefOf(origin: string, alias: string, id?: string): string {
  const one = id === undefined ? '' : `/${encodeURIComponent(id)}`
  return `${origin}${BASE}/subscription/${encodeURIComponent(alias)}${one}`
}

/** As the client reached this host. */
function originOf({ protocol, host, server }: FastifyRequest): string {
  return `${protocol}://${host}${server.prefix}`
}

function callerOf({ tenant, user }: FastifyRequest): { readonly tenant: string; readonly user: string } {
  return { tenant, user }
}
