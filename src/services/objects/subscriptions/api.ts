/** Routes of subscriptions and their deliveries. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '#kernel'
import { routesOf } from '#services/shared'
import { addObjectRoutes, at, hrefWith, originOf } from '../api-parts.ts'
import type { ObjectBucket, ObjectsApi } from '../contract.ts'
import type { Objects } from '../service.ts'
import { LinksSchema } from '../object-schema.ts'
import { BASE, bucketHref, shownBucket } from '../show.ts'
import type { CallerSubscriptions } from './caller-subscriptions.ts'
import type { Subscriptions } from './service.ts'
import {
  BucketSubscriptionsSchema,
  DELIVERIES_QUERY,
  DeliveriesSchema,
  NewSubscription,
  OverviewSchema,
  type Subscription,
  SUBSCRIPTION_QUERY,
  SubscriptionInPlace,
  type SubscriptionQuery,
  SubscriptionSchema,
} from './subscription-schema.ts'

export interface SubscriptionsRouting {
  readonly service: Pick<Subscriptions, 'as'>
  readonly objects: Pick<Objects, 'as'>
}

interface Apis {
  readonly subscriptions: CallerSubscriptions
  readonly objects: ObjectsApi
}

const route = routesOf<Apis>()

const ROUTES = [
  route({
    ...at('/subscription'),
    method: 'GET',
    operation: { operationId: 'getSubscriptions' },
    scope: 'read',
    summary: 'The buckets with subscriptions, and these subscriptions',
    query: SUBSCRIPTION_QUERY,
    answers: { 200: OverviewSchema },
    handler: async ({ api, query, request }) => {
      const buckets = (await api.objects.buckets(query.store)).filter((each) => each.hasSubscriptions)
      return {
        _links: { self: { href: `${originOf(request)}${BASE}/subscription` } },
        bucket_subscriptions: await Promise.all(buckets.map((bucket) => shownPage(api, bucket, query, request))),
      }
    },
  }),
  route({
    ...at('/subscription/:bucket'),
    method: 'GET',
    operation: { operationId: 'getBucketSubscriptions' },
    scope: 'read',
    summary: 'The subscriptions of a bucket',
    query: SUBSCRIPTION_QUERY,
    answers: { 200: BucketSubscriptionsSchema },
    handler: async ({ api, params, query, request }) =>
      shownPage(api, await api.objects.bucket(params.bucket), query, request),
  }),
  route({
    ...at('/subscription/:bucket'),
    method: 'POST',
    operation: { operationId: 'postSubscription' },
    scope: 'author',
    summary: 'Subscribe to changes of the objects of a bucket',
    body: NewSubscription,
    answers: { 200: SubscriptionSchema },
    handler: async ({ api, params: { bucket }, body, request }) =>
      shownSubscription(await api.subscriptions.create(bucket, body), await api.objects.bucket(bucket), request),
  }),
  route({
    ...at('/subscription/:bucket'),
    method: 'DELETE',
    operation: { operationId: 'deleteSubscriptions' },
    scope: 'author',
    summary: 'Remove the subscriptions of a bucket, all or the selected ones',
    query: SUBSCRIPTION_QUERY,
    answers: { 200: LinksSchema },
    handler: async ({ api, params, query, request }) => {
      const { alias } = await api.objects.bucket(params.bucket)
      const { ids, next } = await api.subscriptions.removeAll(alias, query)
      const removed = ids.map((id) => ({ href: hrefOf(request, alias, id) }))
      const href = hrefWith(hrefOf(request, alias), request.query, { start_after: next })
      return { _links: { removed, ...(next !== undefined && { next: { href, method: 'DELETE' } }) } }
    },
  }),
  route({
    ...at('/subscription/:bucket/:id'),
    method: 'GET',
    operation: { operationId: 'getSubscription' },
    scope: 'read',
    summary: 'A subscription',
    answers: { 200: SubscriptionSchema },
    handler: async ({ api, params: { bucket, id }, request }) =>
      shownSubscription(await api.subscriptions.get(bucket, id), await api.objects.bucket(bucket), request),
  }),
  route({
    ...at('/subscription/:bucket/:id'),
    method: 'PUT',
    operation: { operationId: 'putSubscription' },
    scope: 'author',
    summary: 'Create or replace a subscription',
    body: SubscriptionInPlace,
    answers: { 200: SubscriptionSchema },
    handler: async ({ api, params: { bucket, id }, body, request }) =>
      shownSubscription(await api.subscriptions.put(bucket, id, body), await api.objects.bucket(bucket), request),
  }),
  route({
    ...at('/subscription/:bucket/:id'),
    method: 'DELETE',
    operation: { operationId: 'deleteSubscription' },
    scope: 'author',
    summary: 'Remove a subscription',
    answers: { 200: LinksSchema },
    handler: async ({ api, params: { bucket, id }, request }) => {
      const { alias } = await api.objects.bucket(bucket)
      await api.subscriptions.remove(alias, id)
      return { _links: { removed: { href: hrefOf(request, alias, id) } } }
    },
  }),
  route({
    ...at('/subscription/:bucket/:id/deliveries'),
    method: 'GET',
    operation: { operationId: 'getDeliveries' },
    scope: 'read',
    summary: 'The deliveries of a subscription, newest first',
    query: DELIVERIES_QUERY,
    answers: { 200: DeliveriesSchema },
    handler: async ({ api, params: { bucket, id }, query, request }) => {
      const { alias } = await api.objects.bucket(bucket)
      const { deliveries, next } = await api.subscriptions.deliveries(alias, id, query)
      const self = `${hrefOf(request, alias, id)}/deliveries`
      const more = next !== undefined && { next: { href: hrefWith(self, request.query, { before: String(next) }) } }
      return { _links: { self: { href: self }, ...more }, deliveries }
    },
  }),
]

export function subscriptionsRoutes(app: FastifyInstance, { service, objects }: SubscriptionsRouting): Promise<void> {
  const as = (caller: Caller): Apis => ({ subscriptions: service.as(caller), objects: objects.as(caller) })
  return addObjectRoutes(app, { as }, { tag: 'subscriptions', routes: ROUTES })
}

async function shownPage(
  { subscriptions }: Apis,
  bucket: ObjectBucket,
  query: SubscriptionQuery,
  request: FastifyRequest,
): Promise<object> {
  const { subscriptions: found, next } = await subscriptions.list(bucket.alias, query)
  const self = hrefOf(request, bucket.alias)
  return {
    _links: {
      self: { href: self },
      create: { href: self, method: 'POST' },
      ...(next !== undefined && { next: { href: hrefWith(self, request.query, { start_after: next }) } }),
    },
    bucket: shownBucket(bucket, originOf(request), 'record'),
    subscriptions: found.map((each) => shownSubscription(each, bucket, request)),
  }
}

function shownSubscription(subscription: Subscription, { alias }: ObjectBucket, request: FastifyRequest): object {
  const self = hrefOf(request, alias, subscription.id)
  // built-in subscriptions are read-only
  const isWritable = subscription.channel.type !== 'system'
  return {
    _links: {
      self: { href: self },
      ...(isWritable && { update: { href: self, method: 'PUT' }, remove: { href: self, method: 'DELETE' } }),
      list: { href: hrefOf(request, alias) },
      deliveries: { href: `${self}/deliveries` },
      bucket: { href: bucketHref(originOf(request), alias) },
    },
    ...subscription,
  }
}

function hrefOf(request: FastifyRequest, alias: string, id?: string): string {
  const one = id === undefined ? '' : `/${encodeURIComponent(id)}`
  return `${originOf(request)}${BASE}/subscription/${alias}${one}`
}
