/** Answers of the registry, for readers. */
import { Type } from 'typebox'
import { Whole } from '../../../web/route-parts.ts'
import { ModelManifestSchema, PlugManifestSchema, WebscriptManifestSchema } from '../registry/manifest.ts'

const open = { additionalProperties: true } as const
const Link = Type.Object({ href: Type.String() }, open)
const Links = Type.Optional(Type.Record(Type.String(), Link))

export const ErrorSchema = Type.Object(
  {
    error: Type.String(),
    code: Type.String(),
    statusCode: Type.Integer(),
    data: Type.Optional(Type.Array(Type.String())),
  },
  { ...open, title: 'RegistryError' },
)

export const FunctionSchema = Type.Object(
  {
    createdBy: Type.String(),
    createdAt: Type.String({ description: 'ISO 8601' }),
    updatedBy: Type.String(),
    updatedAt: Type.String(),
    status: Type.String({
      description: 'registered, pending, deployed, running, unhealthy, failed, undeploying or undeployed',
    }),
    failureReason: Type.Optional(Type.Object({}, open)),
    runtime: Type.Object({ name: Type.String(), version: Type.String() }, open),
    deprecated: Type.Boolean(),
    draft: Type.Boolean({ description: 'its assets may still change, and no rule uses it' }),
    plug: Type.Optional(PlugManifestSchema),
    webscript: Type.Optional(WebscriptManifestSchema),
    model: Type.Optional(ModelManifestSchema),
    secret: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    updates: Type.Array(Type.Object({ operation: Type.String(), at: Type.String(), by: Type.String() }, open)),
    _links: Links,
  },
  { ...open, title: 'FunctionVersion' },
)
export const PageSchema = Type.Object(
  {
    entities: Type.Array(FunctionSchema),
    count: Type.Integer(),
    limit: Type.Integer(),
    page: Type.Optional(Type.Integer()),
  },
  { title: 'FunctionVersions' },
)
export const SingleSchema = Type.Object({ entity: FunctionSchema, _links: Links }, { title: 'SingleFunction' })
export const ChangeSchema = Type.Object(
  { message: Type.String(), entity: FunctionSchema, _links: Links },
  { title: 'ChangedFunction' },
)
export const RemovalSchema = Type.Object(
  { message: Type.String(), versions: Type.Array(Type.String()), _links: Links },
  { title: 'RemovedFunction' },
)
export const JobSchema = Type.Object(
  { type: Type.String(), id: Type.String(), state: Type.String(), operation: Type.String(), createdAt: Type.String() },
  { ...open, title: 'FunctionJob' },
)
export const JobsSchema = Type.Object(
  { jobs: Type.Array(JobSchema), limit: Type.Integer() },
  { ...open, title: 'FunctionJobs' },
)
export const JobDetailSchema = Type.Object(
  { job: Type.Object({ type: Type.String(), state: Type.String() }, open), _links: Links },
  { title: 'SingleFunctionJob' },
)
export const RuntimesSchema = Type.Object(
  { runtimes: Type.Array(Type.Object({ name: Type.String(), title: Type.String() }, open)) },
  { title: 'Runtimes' },
)
export const LogSchema = Type.Object(
  { lines: Type.Array(Type.Object({ time: Type.String(), level: Type.String(), text: Type.String() })) },
  { title: 'FunctionLog' },
)
export const Anything = Type.Object({}, open)
export const Bytes = Type.Any({ description: 'a gzipped tar, or the bytes of one asset' })

const AGE = 'an instant in ISO 8601, or an age such as 30d or P1M'
const Time = Type.Optional(Type.String({ description: AGE }))

export const LIST_QUERY = {
  limit: Type.Optional(Whole),
  page: Type.Optional(Type.Integer({ minimum: 0, description: 'pages to leave out' })),
  latest: Type.Optional(Type.Boolean({ description: 'default true: one version of each name' })),
  name: Type.Optional(Type.String({ description: 'with * and ?; case does not count' })),
  version: Type.Optional(Type.String({ description: 'with * and ?' })),
  nameVersion: Type.Optional(Type.Array(Type.String(), { description: 'name@version; may repeat' })),
  type: Type.Optional(Type.Array(Type.String(), { description: 'sensor or actuator; may repeat' })),
  status: Type.Optional(
    Type.Array(Type.String(), { description: 'a status, any, or one with - behind it to leave it out' }),
  ),
  draft: Type.Optional(Type.Boolean({ description: 'true: drafts alone; false: none' })),
  deprecated: Type.Optional(Type.Boolean({ description: 'true: deprecated versions alone; false: none' })),
  includeDraft: Type.Optional(Type.Boolean({ description: 'true: a draft may be the latest; false: no drafts' })),
  includeDeprecated: Type.Optional(
    Type.Boolean({ description: 'true: a deprecated version may be the latest; false: none' }),
  ),
  includeUndeployed: Type.Optional(Type.Boolean({ description: 'true: an undeployed version may be the latest' })),
  runtime: Type.Optional(Type.Array(Type.String(), { description: 'name of a runtime; may repeat' })),
  runtimeVersion: Type.Optional(Type.String({ description: 'a range of versions' })),
  archiveFormat: Type.Optional(Type.Array(Type.String(), { description: 'node or python; may repeat' })),
  createdBy: Type.Optional(Type.String({ description: 'a user, or @me' })),
  updatedBy: Type.Optional(Type.String({ description: 'a user, or @me' })),
  createdBefore: Time,
  createdAfter: Time,
  updatedBefore: Time,
  updatedAfter: Time,
  showRelated: Type.Optional(
    Type.Enum(['embed', 'link', 'none'], { description: 'how the draft and the published version of its name show' }),
  ),
}

export const CHANGE_QUERY = {
  deploy: Type.Optional(Type.Boolean({ description: 'default true: build, deploy and verify it' })),
  async: Type.Optional(Type.Boolean({ description: 'default true: answer before it is done' })),
  comment: Type.Optional(Type.String({ description: 'kept with the change' })),
}

export const CREATE_QUERY = {
  ...CHANGE_QUERY,
  draft: Type.Optional(Type.Boolean({ description: 'true: its assets may still change, and no rule uses it' })),
  dryRun: Type.Optional(Type.Boolean({ description: 'true: only checked' })),
  name: Type.Optional(Type.String({ description: 'in place of the one in plug.json' })),
  version: Type.Optional(Type.String({ description: 'a range, of which the next free version is taken' })),
  deprecatePrevious: Type.Optional(
    Type.Enum(['none', 'patch', 'minor', 'all'], {
      description: 'which versions before it are deprecated; default none',
    }),
  ),
}

export const JOBS_QUERY = {
  limit: Type.Optional(Whole),
  type: Type.Optional(Type.Array(Type.String(), { description: 'build, deploy, verify or undeploy; may repeat' })),
  state: Type.Optional(Type.Array(Type.String(), { description: 'a state of jobs; may repeat' })),
  functionType: Type.Optional(Type.Array(Type.String(), { description: 'plugs; may repeat' })),
  createdBefore: Time,
  createdAfter: Time,
}
