/** Subscriptions as they are stored, and which changes they are about. */
import type { CollectionSpec } from '#storage'
import { isHidden, type ObjectChange } from '../contract.ts'
import type { Filter, Subscription, SubscriptionQuery } from './subscription-schema.ts'

export interface SubscriptionRecord extends Subscription {
  /** alias */
  readonly bucket: string
  /** position in the log of changes when it was made: those after it are its matter */
  readonly since: number
}

export const SUBSCRIPTIONS: CollectionSpec<SubscriptionRecord> = {
  name: 'object_subscriptions',
  version: 1,
  fields: { bucket: { type: 'text', of: ({ bucket }) => bucket } },
}

/** of one bucket */
export const MAX_SUBSCRIPTIONS = 1_000

/** Under which it is stored: an id is its bucket's own. */
export function keyOf(bucket: string, id: string): string {
  return `${bucket}/${id}`
}

/** Where a change of a filter is registered: nothing that anybody could use, but the same as long as the filter is there. */
export function queueOf(bucket: string, id: string, place: number): string {
  return `objects:${bucket}:${id}:${place}`
}

/** Changes of hidden objects are nobody's matter. */
export function isAbout({ bucket, since, filters }: SubscriptionRecord, change: ObjectChange): boolean {
  const { event, position, object } = change
  if (object.bucket !== bucket || position <= since || isHidden(object.path)) return false
  return filters.some((filter) => filter.events.includes(event) && fits(filter, object.path))
}

function fits({ prefix = '', suffix = '' }: Filter, path: string): boolean {
  return path.startsWith(prefix) && path.endsWith(suffix)
}

/** Whether some object that begins and ends like this would set it off. */
export function isAsked({ channel, filters }: Subscription, query: SubscriptionQuery): boolean {
  const { prefix, suffix, event_type: eventType, channel_type: channelType, channel_id: channelId } = query
  if (channelType !== undefined && channel.type !== channelType) return false
  if (channelId !== undefined && !channel.name.includes(channelId)) return false
  return filters.some((filter) => {
    if (eventType !== undefined && !filter.events.includes(eventType)) return false
    return meets(prefix, filter.prefix, 'startsWith') && meets(suffix, filter.suffix, 'endsWith')
  })
}

/** One begins, or ends, with the other: then there is an object that has both. */
function meets(asked: string | undefined, wanted: string | undefined, how: 'startsWith' | 'endsWith'): boolean {
  return asked === undefined || wanted === undefined || asked[how](wanted) || wanted[how](asked)
}
