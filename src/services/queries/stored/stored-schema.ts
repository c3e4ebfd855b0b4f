/** Schemas of stored queries in responses. */
import { Type } from 'typebox'
import type { JsonObject } from '#kernel'
import { type Decoded, open, text } from '#services/shared/contract'

const MAX_LEVELS = 20
const MAX_PAGE = 100

const Text = Type.String()
/** Description of a query by its user; fields are searched as `meta.<key>`. */
export const meta = open(
  {
    tags: Type.Optional(Type.Array(text(500, { minLength: 1 }), { maxItems: 100 })),
    description: Type.Optional(text(10_000)),
  },
  MAX_LEVELS,
  { title: 'Meta of a query' },
)
const AttributesSchema = Type.Object({
  created: Type.String({ description: 'ISO 8601' }),
  created_by: Type.String({ description: 'users/<id>' }),
  modified: Type.String({ description: 'ISO 8601' }),
  modified_by: Text,
})
const QUERY = {
  name: Text,
  query: Type.Unsafe<JsonObject>(Type.Object({}, { additionalProperties: true })),
  meta: Type.Unsafe<JsonObject>(meta),
  attrs: AttributesSchema,
}
const StoredQuerySchema = Type.Object(QUERY)
export interface StoredQuery extends Decoded<typeof StoredQuerySchema> {}

export const MessageSchema = Type.Object(
  {
    message: Text,
    level: Type.Enum(['debug', 'info', 'warning', 'error']),
    timestamp: Type.Optional(Type.String({ description: 'ISO 8601' })),
    action: Type.Optional(Text),
    category: Type.Optional(Text),
    properties: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { additionalProperties: true, title: 'Message of a query' },
)
const messages = Type.Array(MessageSchema)
const LinkSchema = Type.Object({ href: Text })
const _links = Type.Object({ self: LinkSchema, execute: LinkSchema })

export const EntitySchema = Type.Object({ ...QUERY, _links, messages }, { title: 'Stored query' })
export const RemovedSchema = Type.Object({ messages }, { title: 'Messages of queries' })

export const SEARCH = {
  q: Type.Optional(Type.String({ description: 'terms such as tag:stable name:boiler* -resource:r1' })),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_PAGE, description: 'maximum number; default 10' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, description: 'number of items to skip' })),
}
const SearchSchema = Type.Object(SEARCH)
export interface SearchParameters extends Decoded<typeof SearchSchema> {}

const { query: _query, ...LISTED } = QUERY
export const PageSchema = Type.Object(
  {
    messages,
    queries: Type.Array(Type.Object({ ...LISTED, _links })),
    _links: Type.Object({}, { additionalProperties: true }),
    count: Type.Integer(),
    offset: Type.Integer(),
    limit: Type.Integer(),
    total: Type.Integer({ description: 'total number of matches' }),
  },
  { title: 'Stored queries' },
)

export const ErrorSchema = Type.Object(
  { error: Text, messages, code: Text, details: Type.Optional(Type.Array(Text)) },
  { title: 'Error of the query service' },
)
