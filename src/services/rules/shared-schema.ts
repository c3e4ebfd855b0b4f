/** What all parts of the rules contract share: who asks, words of listings, the body of an error. */
import { Type, type Static } from 'typebox'
import type { PatchOperation } from '#kernel'
import { GRAPH_FORMATS, ISSUE_SEVERITIES, TASK_STATUSES, TASK_TYPES } from './words.ts'

export const GraphFormatSchema = Type.Enum(GRAPH_FORMATS, { description: 'form of the graph, default bn' })
export const TaskStatusSchema = Type.Enum(TASK_STATUSES)
export const TaskTypeSchema = Type.Enum(TASK_TYPES)
export type GraphFormat = (typeof GRAPH_FORMATS)[number]
export type TaskStatusName = (typeof TASK_STATUSES)[number]

export const EpochMs = Type.Integer({ minimum: 0, description: 'epoch ms' })
export const IsoTime = Type.String({ format: 'date-time', description: 'ISO 8601, UTC' })
export const AnyObject = Type.Record(Type.String(), Type.Unknown())

const FixSchema = Type.Unsafe<readonly PatchOperation[]>(
  Type.Array(
    Type.Object({
      op: Type.Enum(['move', 'remove', 'replace']),
      path: Type.String(),
      from: Type.Optional(Type.String()),
      value: Type.Optional(Type.Unknown()),
    }),
    { description: 'JSON Patch (RFC 6902) of the body, where it allows a single correction' },
  ),
)

/** One problem of a request. */
export const WireIssueSchema = Type.Object(
  {
    type: Type.String({ description: 'stable kind: PLUGIN, VARIABLE, BINDING, STATE, LABEL ...' }),
    message: Type.String(),
    severity: Type.Enum(ISSUE_SEVERITIES),
    path: Type.Optional(Type.String({ description: 'JSON pointer into the body' })),
    details: Type.Optional(AnyObject),
    suggestion: Type.Optional(Type.String()),
    fix: Type.Optional(FixSchema),
  },
  { title: 'Issue' },
)
export type WireIssue = Static<typeof WireIssueSchema>

/** The body of every answer of 400 and above. */
export const ErrorBodySchema = Type.Object(
  {
    statusCode: Type.Integer(),
    error: Type.String(),
    code: Type.Optional(Type.String()),
    details: Type.Optional(Type.Array(WireIssueSchema)),
  },
  { title: 'Error' },
)
export type ErrorBody = Static<typeof ErrorBodySchema>

export const MAX_HITS = 100
export const DEFAULT_HITS = 10

/** Wraps a list: the answer to the paged media type. */
export function pagedSchema<T extends ReturnType<typeof Type.Object>>(item: T, title: string) {
  return Type.Object(
    {
      values: Type.Array(item),
      skip: Type.Integer({ minimum: 0 }),
      limit: Type.Integer({ minimum: 0, maximum: MAX_HITS }),
      total: Type.Integer({ minimum: 0 }),
    },
    { title },
  )
}
