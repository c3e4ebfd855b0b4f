/** Answers of the registry, for readers. */
import { Type } from 'typebox'
import { Whole } from '#services/shared'
import { ModelManifestSchema, PlugManifestSchema, TagSchema, WebscriptManifestSchema } from '../registry/manifest.ts'

const open = { additionalProperties: true } as const
const Link = Type.Object({ href: Type.String() }, open)
const Links = Type.Optional(Type.Record(Type.String(), Link))

export const TagListSchema = Type.Object({ tags: Type.Array(TagSchema) }, { title: 'Tags' })
export const TagOneSchema = Type.Object({ tag: TagSchema }, { title: 'SingleTag' })

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
    lockedPackages: Type.Optional(
      Type.Array(Type.String(), {
        description: 'name==version, with a digest: the packages of Python that its first build installed',
      }),
    ),
    updates: Type.Optional(
      Type.Array(Type.Object({ operation: Type.String(), at: Type.String(), by: Type.String() }, open)),
    ),
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
  { ...open, title: 'FunctionVersions' },
)
export const SingleSchema = Type.Object({ entity: FunctionSchema, _links: Links }, { ...open, title: 'SingleFunction' })
export const ChangeSchema = Type.Object(
  { message: Type.String(), entity: FunctionSchema, _links: Links },
  { ...open, title: 'ChangedFunction' },
)
export const RebuildSchema = Type.Object(
  {
    message: Type.String(),
    causes: Type.Record(
      Type.String(),
      Type.Object({ changed: Type.Boolean(), reason: Type.String(), backoff: Type.Optional(Type.Boolean()) }, open),
    ),
    entity: FunctionSchema,
    _links: Links,
  },
  { ...open, title: 'RebuiltFunction' },
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
export const RuntimeSchema = Type.Object(
  { runtime: Type.Object({ name: Type.String(), title: Type.String(), version: Type.String() }, open) },
  { title: 'Runtime' },
)
export const LogSchema = Type.Object(
  { lines: Type.Array(Type.Object({ time: Type.String(), level: Type.String(), text: Type.String() })) },
  { title: 'FunctionLog' },
)
export const Anything = Type.Object({}, open)
export const Bytes = Type.Any({ description: 'a gzipped tar, or the bytes of one asset' })

const AGE = 'an instant in ISO 8601 or epoch ms, or an age such as 30d or P1M'
const Time = Type.Optional(Type.String({ description: AGE }))

const ShowTags = Type.Optional(
  Type.Enum(['inline', 'embed', 'none'], {
    description: 'tags in the manifest (default), their names there and tags in _embedded, or names alone',
  }),
)

export const LIST_QUERY = {
  limit: Type.Optional(Whole),
  page: Type.Optional(Type.Integer({ minimum: 0, description: 'pages to leave out' })),
  latest: Type.Optional(Type.Boolean({ description: 'default true: one version of each name' })),
  name: Type.Optional(Type.String({ description: 'with * and ?; case does not count' })),
  version: Type.Optional(Type.String({ description: 'with * and ?' })),
  nameVersion: Type.Optional(Type.Array(Type.String(), { description: 'name@version; may repeat' })),
  tags: Type.Optional(Type.Array(Type.String(), { description: 'tags that it must have, all of them; may repeat' })),
  wql: Type.Optional(
    Type.String({ description: 'a condition on its tags, such as tag:like("heat*") AND NOT tag:old' }),
  ),
  showTags: ShowTags,
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
  scaleToZero: Type.Optional(Type.Boolean({ description: 'true: its processes end once it has answered' })),
  chown: Type.Optional(Type.Boolean({ description: 'true: a draft becomes that of who asks' })),
  author: Type.Optional(Type.String({ description: 'becomes the author in its metadata' })),
  comment: Type.Optional(Type.String({ description: 'kept with the change' })),
  showTags: ShowTags,
}

const { chown: _ofDrafts, ...OF_CREATION } = CHANGE_QUERY

export const PROTECT_QUERY = {
  enable: Type.Optional(Type.Boolean({ description: 'default true; false: everybody reads them again' })),
  chown: CHANGE_QUERY.chown,
  author: CHANGE_QUERY.author,
  comment: CHANGE_QUERY.comment,
  showTags: ShowTags,
}

export const REBUILD_QUERY = {
  upgrade: Type.Optional(
    Type.Enum(['same', 'patch', 'minor', 'major'], {
      description: 'how far the version of the runtime may move; default patch',
    }),
  ),
  forceVersion: Type.Optional(Type.String({ description: 'a version of the runtime, in place of upgrade' })),
  forceDeploy: Type.Optional(Type.Boolean({ description: 'true: is deployed also when that is not needed' })),
  ignoreChecks: Type.Optional(
    Type.Boolean({ description: 'true: also while it is worked on, shortly after a failure, or without a need' }),
  ),
  skipRebuild: Type.Optional(Type.Boolean({ description: 'true: what was built is deployed' })),
  skipVerify: Type.Optional(
    Type.Boolean({ description: 'true: is not asked whether it is well; it runs only if it was before' }),
  ),
  scaleToZero: CHANGE_QUERY.scaleToZero,
  dryRun: Type.Optional(Type.Boolean({ description: 'true: only says what it would do' })),
  async: CHANGE_QUERY.async,
  comment: CHANGE_QUERY.comment,
  showTags: ShowTags,
}

export const TAGS_QUERY = {
  name: Type.Optional(Type.String({ description: 'with * and ?; case does not count' })),
  color: Type.Optional(Type.String({ description: 'exact, such as #4153ea' })),
}

export const RUNTIMES_QUERY = {
  name: Type.Optional(Type.String({ description: 'with * and ?; case does not count' })),
  version: Type.Optional(Type.String({ description: 'a range of versions; default *' })),
  latest: Type.Optional(
    Type.Enum(['major', 'minor', 'patch', 'true', 'false'], {
      description: 'the newest of each major, minor (default) or patch version; true: of all; false: every version',
    }),
  ),
  includeDeprecated: Type.Optional(Type.Boolean({ description: 'true: also versions that are deprecated' })),
  tags: Type.Optional(Type.Array(Type.String(), { description: 'tags that it must have, all of them; may repeat' })),
  functionType: Type.Optional(
    Type.Array(Type.String(), {
      description: 'plugs, webscripts or kfserving; with - behind it: left out; may repeat',
    }),
  ),
  archiveFormat: Type.Optional(
    Type.Array(Type.String(), { description: 'node, python or byoml; with - behind it: left out; may repeat' }),
  ),
  showTags: Type.Optional(
    Type.Enum(['inline', 'embed', 'none'], {
      description: 'tags, their names and tags in _embedded, or names (default)',
    }),
  ),
}

export const CREATE_QUERY = {
  ...OF_CREATION,
  runtime: Type.Optional(Type.String({ description: 'name or name@range, in place of the one in the manifest' })),
  copy: Type.Optional(
    Type.String({ description: 'name or name@range of a version whose assets it begins with, or !example' }),
  ),
  draft: Type.Optional(Type.Boolean({ description: 'true: its assets may still change, and no rule uses it' })),
  dryRun: Type.Optional(Type.Boolean({ description: 'true: only checked' })),
  name: Type.Optional(Type.String({ description: 'in place of the one in the manifest' })),
  version: Type.Optional(Type.String({ description: 'a range, of which the next free version is taken' })),
  deprecatePrevious: Type.Optional(
    Type.Enum(['none', 'patch', 'minor', 'all'], {
      description: 'which versions before it are deprecated; default none for plugs, and patch for others',
    }),
  ),
}

export const JOBS_QUERY = {
  limit: Type.Optional(Whole),
  type: Type.Optional(
    Type.Array(Type.String(), { description: 'build, deploy, verify, undeploy, batch, scale or cleanup; may repeat' }),
  ),
  state: Type.Optional(Type.Array(Type.String(), { description: 'a state of jobs; may repeat' })),
  functionType: Type.Optional(Type.Array(Type.String(), { description: 'plugs, webscripts or kfserving; may repeat' })),
  createdBefore: Time,
  createdAfter: Time,
}
