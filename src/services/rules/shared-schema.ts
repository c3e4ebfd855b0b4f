/** Schemas shared by the rules contract: enumerations, fields, paging, and error bodies. */
import { Type } from 'typebox'
import type { PatchOperation } from '#kernel'
import type { Checked, Decoded } from '#services/shared/contract'

export const GRAPH_FORMATS = ['bn', 'simplified'] as const
export const LOG_LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const
export type GraphFormat = (typeof GRAPH_FORMATS)[number]
export type LogLevel = (typeof LOG_LEVELS)[number]

export const Text = Type.String()
export const EpochMs = Type.Integer({ minimum: 0, description: 'epoch ms' })
export const IsoTime = Type.String({ format: 'date-time', description: 'ISO 8601, UTC' })
export const AnyObject = Type.Record(Text, Type.Unknown())
export const Version = Type.Integer({ minimum: 1, description: 'number of a version of a template' })
export const TaskStatus = Type.Enum(['running', 'stopped', 'failed'])
export const TaskType = Type.Enum(['onetime', 'scheduled', 'reactive', 'periodic'])

export const ISSUE_TYPES = { type: 'TYPE', typeOfUnknown: 'FIELD' } as const

/** A body that is checked later, by the core or in another thread. */
export function unread<T>(schema: object): Checked<ReturnType<typeof Type.Unsafe<T>>> {
  return { schema: Type.Unsafe<T>(schema), read: (value) => value as Decoded<ReturnType<typeof Type.Unsafe<T>>> }
}

const FixSchema = Type.Unsafe<readonly PatchOperation[]>(
  Type.Array(
    Type.Object({
      op: Type.Enum(['add', 'move', 'remove', 'replace']),
      path: Type.String(),
      from: Type.Optional(Type.String()),
      value: Type.Optional(Type.Unknown()),
    }),
    { description: 'JSON Patch (RFC 6902) of the body, where it allows a single correction' },
  ),
)

export const WireIssueSchema = Type.Object(
  {
    type: Type.String({ description: 'stable kind: PLUGIN, VARIABLE, BINDING, STATE, LABEL ...' }),
    message: Text,
    severity: Type.Enum(['ERROR', 'WARNING', 'INFO']),
    path: Type.Optional(Type.String({ description: 'JSON pointer into the body' })),
    details: Type.Optional(AnyObject),
    suggestion: Type.Optional(Text),
    fix: Type.Optional(FixSchema),
  },
  { title: 'Issue' },
)
export interface WireIssue extends Decoded<typeof WireIssueSchema> {}

export const ErrorBodySchema = Type.Object(
  {
    statusCode: Type.Integer(),
    error: Text,
    code: Type.Optional(Text),
    details: Type.Optional(Type.Array(WireIssueSchema)),
  },
  { title: 'Error' },
)
export interface ErrorBody extends Decoded<typeof ErrorBodySchema> {}

export const MAX_HITS = 100
export const DEFAULT_HITS = 10

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
