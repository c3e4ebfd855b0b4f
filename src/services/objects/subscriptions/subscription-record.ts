/** Defines stored subscriptions, and which changes match them. */
import type { CollectionSpec } from '#storage'
import { isHidden, type ObjectChange } from '../contract.ts'
import type { Filter, Subscription, SubscriptionQuery } from './subscription-schema.ts'

export interface SubscriptionRecord extends Subscription {
  readonly bucket: string
  /** log position when the subscription was created; earlier changes do not match */
  readonly since: number
}

export const SUBSCRIPTIONS: CollectionSpec<SubscriptionRecord> = {
  name: 'object_subscriptions',
  version: 1,
  audited: true,
  fields: { bucket: { type: 'text', of: ({ bucket }) => bucket } },
}

export const MAX_SUBSCRIPTIONS = 1_000

export function keyOf(bucket: string, id: string): string {
  return `${bucket}/${id}`
}

export function queueOf(bucket: string, id: string, index: number): string {
  return `objects:${bucket}:${id}:${index}`
}

/** True when the change matches a filter of the subscription. Hidden objects never match. */
export function isAbout({ bucket, since, filters }: SubscriptionRecord, change: ObjectChange): boolean {
  const { event, position, object } = change
  if (object.bucket !== bucket || position <= since || isHidden(object.path)) return false
  return filters.some((filter) => filter.events.includes(event) && fits(filter, object.path))
}

function fits({ prefix = '', suffix = '' }: Filter, path: string): boolean {
  return path.startsWith(prefix) && path.endsWith(suffix)
}

export function isRequested({ channel, filters }: Subscription, query: SubscriptionQuery): boolean {
  const { prefix, suffix, event_type: eventType, channel_type: channelType, channel_id: channelId } = query
  if (channelType !== undefined && channel.type !== channelType) return false
  if (channelId !== undefined && !channel.name.includes(channelId)) return false
  return filters.some((filter) => {
    if (eventType !== undefined && !filter.events.includes(eventType)) return false
    return meets(prefix, filter.prefix, 'startsWith') && meets(suffix, filter.suffix, 'endsWith')
  })
}

function meets(requested: string | undefined, wanted: string | undefined, how: 'startsWith' | 'endsWith'): boolean {
  return requested === undefined || wanted === undefined || requested[how](wanted) || wanted[how](requested)
}
