/** Schemas of webscripts, their log and their metrics. */
import { Type } from 'typebox'
import { checked, closed, type Decoded, type Problem, readOnly, refined } from '#services/shared/contract'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
const LINE_KINDS = ['request', 'response', 'console'] as const
export const MAX_LINES = 1_000

const Text = Type.String()
const Texts = Type.Record(Text, Text)
const Flag = Type.Boolean()

export const ErrorSchema = Type.Object(
  { error: Text, code: Text, statusCode: Type.Integer() },
  { additionalProperties: true, title: 'WebscriptError' },
)

export const InfoSchema = Type.Object(
  {
    id: Type.String({ description: 'id in URLs' }),
    name: Text,
    version: Text,
    status: Text,
    draft: Flag,
    deprecated: Flag,
    private: Flag,
    allowHmac: Flag,
    runtime: Text,
    href: Type.String({ description: 'URL of the webscript' }),
    secret: Type.Optional(Text),
  },
  { title: 'Webscript' },
)
export interface WebscriptInfo extends Decoded<typeof InfoSchema> {}

export const OperationSchema = Type.Object(
  {
    message: Text,
    name: Text,
    version: Text,
    operation: Type.Optional(Type.Object({ id: Text, href: Text })),
  },
  { title: 'WebscriptOperation' },
)
export interface Operation extends Decoded<typeof OperationSchema> {}

const FIELDS = {
  script: Type.String({ minLength: 1, description: 'the text of the script' }),
  version: Type.Optional(Type.String({ description: 'major.minor.patch; default: the next version' })),
  runtime: Type.Optional(Type.Enum(['web-node24', 'web-python3'])),
  private: Type.Optional(Flag),
  allowHmac: Type.Optional(Flag),
  draft: Type.Optional(Flag),
  envVars: Type.Optional(Texts),
  metadata: Type.Optional(Type.Object({}, { additionalProperties: true })),
  dependencies: Type.Optional(Texts),
  lock: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'the package-lock.json' })),
}

function lockProblems(body: unknown): readonly Problem[] {
  const { dependencies, lock } = body as Readonly<Record<string, unknown>>
  if (lock !== undefined || Object.keys(dependencies ?? {}).length === 0) return []
  return [{ at: '/lock', message: 'is required for dependencies', suggestion: 'send the package-lock.json' }]
}

const NewSchema = refined(closed({ name: Text, ...FIELDS }, { title: 'NewWebscript' }), lockProblems)
export const NewWebscript = checked(NewSchema, { subject: 'the webscript', type: 'MANIFEST' })
export interface NewWebscript extends Decoded<typeof NewSchema> {}

// the name is given in the path
const ChangeSchema = refined(closed({ ...FIELDS, ...readOnly(['name']) }, { title: 'ChangedWebscript' }), lockProblems)
export const WebscriptChange = checked(ChangeSchema, { subject: 'the webscript', type: 'MANIFEST' })
export interface WebscriptChange extends Decoded<typeof ChangeSchema> {}

const LineSchema = Type.Object(
  {
    number: Type.Integer({ description: 'increases with each line of the host, so numbers of a webscript have gaps' }),
    timestamp: Type.String({ description: 'ISO 8601' }),
    level: Type.Enum(LOG_LEVELS),
    kind: Type.Enum(LINE_KINDS),
    message: Text,
    version: Text,
    requestId: Type.Optional(Text),
  },
  { title: 'WebscriptLine' },
)
export interface ScriptLine extends Decoded<typeof LineSchema> {}

export const LogSchema = Type.Object(
  {
    values: Type.Unsafe<readonly ScriptLine[]>(Type.Array(LineSchema, { description: 'the newest first' })),
    next: Type.Optional(Type.Integer({ description: '`after` of the next page; absent on the last one' })),
  },
  { title: 'WebscriptLog' },
)
export interface ScriptLogPage extends Decoded<typeof LogSchema> {}

export const TAIL_QUERY = {
  level: Type.Optional(Type.Enum(LOG_LEVELS, { description: 'this level and above' })),
  kind: Type.Optional(Type.Enum(LINE_KINDS, { description: 'only these lines' })),
  version: Type.Optional(Type.String({ description: 'lines of one version; default all' })),
  search: Type.Optional(Type.String({ description: 'part of the message, in any letter case' })),
  after: Type.Optional(Type.Integer({ minimum: 0, description: 'lines after the line with this number' })),
}
export const LOG_QUERY = {
  ...TAIL_QUERY,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LINES, description: 'lines; default 100' })),
}
const QuerySchema = Type.Object(LOG_QUERY)
type Query = Decoded<typeof QuerySchema>
export interface ScriptLogQuery extends Readonly<{ [Name in keyof Query]?: Query[Name] | undefined }> {}

export const MetricsSchema = Type.Object(
  {
    calls: Type.Integer(),
    errors: Type.Integer({ description: 'number of responses with a status from 500' }),
    coldStarts: Type.Integer({ description: 'number of calls that had to start a process' }),
    open: Type.Integer(),
    p50: Type.Number({ description: 'ms until the response began' }),
    p99: Type.Number(),
    bytesIn: Type.Integer(),
    bytesOut: Type.Integer(),
  },
  { title: 'WebscriptMetrics' },
)
export interface ScriptMetrics extends Decoded<typeof MetricsSchema> {}
