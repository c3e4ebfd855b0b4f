/** Schemas of audit entries and their query. */
import { Type } from 'typebox'
import { type Decoded, instant } from '#services/shared/contract'

const Text = Type.String()

export const EntrySchema = Type.Object(
  {
    id: Text,
    time: Type.String({ description: 'ISO 8601' }),
    user: Type.String({ description: 'key, or subject of a token' }),
    address: Type.Optional(Type.String({ description: 'IP address of the client; absent for jobs of the host' })),
    method: Type.Optional(Text),
    path: Type.String({ description: 'path of the request, or jobs/<type>/<id>' }),
    request: Type.Optional(Type.String({ description: 'id of the request in the log' })),
    changes: Type.Array(
      Type.Object({
        collection: Type.String({ description: 'kind of the document, such as tasks' }),
        id: Text,
        change: Type.Enum(['created', 'changed', 'removed']),
        difference: Type.Array(
          Type.Object({
            path: Type.String({ description: 'JSON pointer into the document; empty: the whole document' }),
            from: Type.Optional(Type.Unknown()),
            to: Type.Optional(Type.Unknown()),
          }),
          { description: 'with masked secrets and truncated long values' },
        ),
      }),
    ),
  },
  { title: 'AuditEntry' },
)
export interface AuditEntryInfo extends Decoded<typeof EntrySchema> {}

export const EntriesSchema = Type.Object(
  { values: Type.Array(EntrySchema), next: Type.Optional(Text) },
  { title: 'AuditEntries' },
)

export const FILTER = {
  from: Type.Optional(instant),
  until: Type.Optional(instant),
  who: Type.Optional(Type.String({ maxLength: 500, description: 'user that made the changes' })),
  path: Type.Optional(Type.String({ maxLength: 500, description: 'start of the path of the request' })),
}
export const PAGED = {
  ...FILTER,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'page size; default 100' })),
  after: Type.Optional(Type.String({ maxLength: 100, description: '`next` of the previous page' })),
}
const QuerySchema = Type.Object(PAGED)
export interface AuditQuery extends Partial<Decoded<typeof QuerySchema>> {}

export const ErrorSchema = Type.Object(
  { error: Text, code: Text, statusCode: Type.Integer(), details: Type.Optional(Type.Array(Text)) },
  { title: 'AuditError' },
)
