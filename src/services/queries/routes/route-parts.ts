/** What all routes of the query service share. */
import { Type } from 'typebox'
import { asking, describing, QueryReader, type RequestContext as Context } from '#services/shared'
import type { QueriesApi } from '../contract.ts'

export type RequestContext = Context<QueriesApi, QueryReader>

export const handle = asking<QueriesApi, QueryReader>((query) => new QueryReader(query))

export const MessageSchema = Type.Object(
  {
    message: Type.String(),
    level: Type.Enum(['debug', 'info', 'warning', 'error']),
    timestamp: Type.Optional(Type.String({ description: 'ISO 8601' })),
    action: Type.Optional(Type.String()),
    category: Type.Optional(Type.String()),
    properties: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { additionalProperties: true, title: 'Message of a query' },
)

export const ErrorSchema = Type.Object(
  {
    error: Type.String(),
    messages: Type.Array(MessageSchema),
    code: Type.String(),
    details: Type.Optional(Type.Array(Type.String())),
  },
  { title: 'Error of the query service' },
)

export const described = describing('queries', ErrorSchema)
