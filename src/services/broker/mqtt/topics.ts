/** Parses the topics of devices; an id may contain slashes. */
import { type Scope, topicFits } from '#kernel'
import type { Channel } from '../contract.ts'

export type PublishTopic =
  { readonly kind: 'resource'; readonly resource: string; readonly channel: Channel } | { readonly kind: 'messages' }

export type SubscribeTopic =
  | { readonly kind: 'resource'; readonly resource: string; readonly channel: Channel }
  /** events of every resource whose topic matches */
  | { readonly kind: 'many'; readonly fits: (topic: string) => boolean }
  | { readonly kind: 'errors' }

export const ERRORS_TOPIC = 'errors'
const MESSAGES_TOPIC = 'messages'
const MAX_LEVELS = 64
const RESOURCE_TOPIC = /^resources\/(?<resource>.+)\/(?<channel>events|commands)$/s

/** Returns the scope for messages to a topic; undefined: a topic of a converter. */
export function scopeOfPublish(topic: PublishTopic | undefined): Scope {
  return topic?.kind === 'resource' && topic.channel === 'commands' ? 'operate' : 'device'
}

/** Returns the scopes of which one allows a subscription; none: any key may subscribe. */
export function scopesOfSubscribe(topic: SubscribeTopic): readonly Scope[] {
  if (topic.kind === 'errors') return []
  return topic.kind === 'resource' && topic.channel === 'commands' ? ['read', 'device'] : ['read']
}

export function publishTopic(topic: string): PublishTopic | undefined {
  if (topic === MESSAGES_TOPIC) return { kind: 'messages' }
  if (/[+#\0]/.test(topic)) return undefined
  return resourceTopic(topic)
}

/** Returns undefined for a filter that cannot match, such as commands with wildcards. */
export function subscribeTopic(filter: string): SubscribeTopic | undefined {
  if (filter === ERRORS_TOPIC) return { kind: 'errors' }
  const levels = filter.split('/')
  if (levels.length > MAX_LEVELS || filter.includes('\0')) return undefined
  if (!levels.some((level) => level === '+' || level === '#')) {
    return /[+#]/.test(filter) ? undefined : resourceTopic(filter)
  }
  const isWellFormed = levels.every(
    (level, i) => level === '+' || (level === '#' && i === levels.length - 1) || !/[+#]/.test(level),
  )
  const [first = ''] = levels
  const last = levels.at(-1) ?? ''
  const mayFit = ['resources', '+', '#'].includes(first) && ['events', '+', '#'].includes(last)
  return isWellFormed && mayFit ? { kind: 'many', fits: (topic) => topicFits(filter, topic) } : undefined
}

/** Returns undefined for an id that a topic cannot contain. */
export function topicOf(resource: string, channel: Channel): string | undefined {
  return /[+#\0]/.test(resource) ? undefined : `resources/${resource}/${channel}`
}

function resourceTopic(topic: string) {
  const groups = RESOURCE_TOPIC.exec(topic)?.groups
  if (groups === undefined) return undefined
  const { resource = '', channel = '' } = groups
  return { kind: 'resource', resource, channel: channel as Channel } as const
}
