/** Schemas of posts and their results. `read-post.ts` checks the same limits without a schema, for speed. */
import { Type } from 'typebox'
import { MAX_ID_BYTES } from '#kernel'
import { MAX_TIME } from '#services/shared/contract'

export const MAX_MESSAGES = 10_000

const resource = Type.String({ minLength: 1, maxLength: MAX_ID_BYTES })
const timestamp = Type.Union(
  [
    Type.Number({ minimum: -MAX_TIME, maximum: MAX_TIME }),
    Type.String({ pattern: String.raw`^\s*\d{4}-\d{2}-\d{2}` }),
    Type.Null(),
  ],
  { description: 'epoch ms or ISO 8601; default: the time of arrival' },
)
const OPEN = { additionalProperties: true, description: 'other members are metrics' }

export const MessageSchema = Type.Object({ timestamp: Type.Optional(timestamp) }, OPEN)
const RoutedSchema = Type.Object({ resource, timestamp: Type.Optional(timestamp) }, OPEN)
const LIST = { minItems: 1, maxItems: MAX_MESSAGES }
export const PostSchema = Type.Union([MessageSchema, Type.Array(MessageSchema, LIST)])
export const RoutedPostSchema = Type.Union([RoutedSchema, Type.Array(RoutedSchema, LIST)])
export const CommandSchema = Type.Object({ name: Type.String({ minLength: 1 }) }, { additionalProperties: true })

export const POSTING = {
  store: Type.Optional(Type.Boolean()),
  forward: Type.Optional(Type.Boolean()),
  ttl: Type.Optional(Type.String({ minLength: 1 })),
}

export const PostedSchema = Type.Object({ message: Type.String(), content: Type.Unknown() })

export const ErrorSchema = Type.Object({
  error: Type.String(),
  details: Type.Optional(Type.Array(Type.String())),
})
