/** Schemas of parameters and responses of the function registry. */
import { type TObject, type TProperties, Type } from 'typebox'
import { JOB_STATES } from '#jobs'
import { type Json, shown } from '#kernel'
import { type Decoded, refined } from '#services/shared/contract'
import { FUNCTION_TYPES } from './function-type.ts'
import { ModelManifestSchema, PlugManifestSchema, TagSchema, WebscriptManifestSchema } from './manifest-schema.ts'
import { timestampOf } from './registry/timestamp-spec.ts'

/** Types of jobs. Clients know `notify`, but it never occurs. */
export const JOB_TYPES = ['build', 'deploy', 'verify', 'undeploy', 'batch', 'scale', 'cleanup', 'notify'] as const
export type JobType = (typeof JOB_TYPES)[number]
/** Keeps only the newest version at each level; `true`: the newest of all; `false`: every version. */
export const RUNTIME_LEVELS = ['major', 'minor', 'patch', 'true', 'false'] as const
const MAX_LIMIT = 100
const FULL = { additionalProperties: true } as const

const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const word = (description: string) =>
  Type.Optional(Type.Decode(Type.String({ description }), (value) => (value === '' ? undefined : value)))

function split(values: readonly string[]): readonly string[] | undefined {
  const all = values.flatMap((text) => text.split(',')).filter((text) => text !== '')
  return all.length === 0 ? undefined : all
}

const list = (description: string) => Type.Optional(Type.Decode(Type.Array(Type.String(), { description }), split))

function listOf<const W extends string>(names: readonly W[], description: string) {
  const schema = refined(Type.Array(Type.String(), { description }), (values) => {
    const all = split(Array.isArray(values) ? values.map(String) : []) ?? []
    const unknown = all.filter((value) => !names.some((name) => name === value))
    return unknown.map((value) => ({
      message: `${shown(value)} is unknown`,
      suggestion: `write one of ${names.join(', ')}`,
    }))
  })
  return Type.Optional(Type.Decode(schema, (values) => split(values) as readonly W[] | undefined))
}

type Parameters<P extends TProperties, D = Decoded<TObject<P>>> = { readonly [N in keyof D]: D[N] | undefined }
type Clock = () => number

function timeBy(now: Clock) {
  const schema = refined(
    Type.String({ description: 'an instant in ISO 8601 or epoch ms, or an age such as 30d or P1M' }),
    (value) =>
      value === '' || (typeof value === 'string' && timestampOf(value, 0) !== undefined)
        ? []
        : [
            {
              message: `${shown(value)} is neither an instant nor an age`,
              suggestion: 'write 2026-01-31T12:00:00Z or 30d',
            },
          ],
  )
  return Type.Optional(Type.Decode(schema, (value) => timestampOf(value, now())))
}

const limit = Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_LIMIT }))
const page = Type.Optional(Type.Integer({ minimum: 0, description: 'number of pages to skip' }))
const ofName = word('pattern with * and ?, in any letter case')
const SHOWN = ['inline', 'embed', 'none'] as const

export const TAGS_SHOWN = {
  showTags: Type.Optional(
    Type.Enum(SHOWN, {
      description: 'tags in the manifest (default), their names there and tags in _embedded, or only names',
    }),
  ),
}
export type TagsQuery = Parameters<typeof TAGS_SHOWN>
export type ShowTags = (typeof SHOWN)[number]

export const INCLUSION = {
  includeDraft: flag('true: a draft may be the latest; false: no drafts'),
  includeDeprecated: flag('true: a deprecated version may be the latest; false: none'),
  includeUndeployed: flag('true: an undeployed version may be the latest'),
}
export type InclusionQuery = Parameters<typeof INCLUSION>

export const listQuery = (now: Clock) => ({
  limit,
  page,
  latest: flag('default true: one version of each name'),
  name: ofName,
  version: word('with * and ?'),
  nameVersion: list('name@version; repeatable'),
  tags: list('required tags, all of them; repeatable'),
  wql: word('a condition on its tags, such as tag:like("heat*") AND NOT tag:old'),
  ...TAGS_SHOWN,
  type: list('sensor or actuator; repeatable'),
  status: list('a status, any, or a status followed by - to exclude it'),
  draft: flag('true: only drafts; false: no drafts'),
  deprecated: flag('true: only deprecated versions; false: none'),
  ...INCLUSION,
  runtime: list('name of a runtime; repeatable'),
  runtimeVersion: word('a range of versions'),
  archiveFormat: list('node or python; repeatable'),
  createdBy: word('a user, or @me'),
  updatedBy: word('a user, or @me'),
  createdBefore: timeBy(now),
  createdAfter: timeBy(now),
  updatedBefore: timeBy(now),
  updatedAfter: timeBy(now),
  showRelated: Type.Optional(
    Type.Enum(['embed', 'link', 'none'], {
      description: 'how the draft and the published version of a name are shown',
    }),
  ),
})
/** Filters of a list, all of which must hold. Times are epoch ms. */
export interface FunctionQuery extends Parameters<ReturnType<typeof listQuery>> {
  readonly exactName?: string | undefined
}

export const jobsQuery = (now: Clock) => ({
  limit,
  type: listOf(JOB_TYPES, 'build, deploy, verify, undeploy, batch, scale or cleanup; repeatable'),
  state: listOf(JOB_STATES, 'a state of jobs; repeatable'),
  functionType: listOf([...FUNCTION_TYPES, 'kfserving'], 'plugs, webscripts or kfserving; repeatable'),
  createdBefore: timeBy(now),
  createdAfter: timeBy(now),
})
export type JobsQuery = Parameters<ReturnType<typeof jobsQuery>>
export const JOB_EVENTS_QUERY = {
  type: Type.Optional(Type.Enum(JOB_TYPES)),
  id: word('id of a job'),
  children: flag('true: includes events of the jobs for which it waits'),
}

export type JobEventsQuery = Parameters<typeof JOB_EVENTS_QUERY>

export const WAITING = { async: flag('default true: the response is sent before the work is done') }
const scaleToZero = flag('true: its processes end after the check')
const chown = flag('true: the caller takes over the draft')
const comment = word('comment stored with the change')
const author = word('author in its metadata')
export const COMMENTED = { author, comment, ...TAGS_SHOWN }
const deploy = flag('default true: build, deploy and verify it')
const deprecatePrevious = Type.Optional(
  Type.Enum(['none', 'patch', 'minor', 'all'], {
    description: 'which earlier versions to deprecate; default none for plugs, patch for others',
  }),
)

export const CHANGE_QUERY = { deploy, scaleToZero, chown, ...COMMENTED }
export const PROTECT_QUERY = { enable: flag('default true; false: removes the protection'), chown, ...COMMENTED }
export const PUBLISH_QUERY = { deprecatePrevious, chown, ...COMMENTED }
export const VERIFY_QUERY = { comment, scaleToZero, ...TAGS_SHOWN }
export const CREATE_QUERY = {
  deploy,
  scaleToZero,
  ...COMMENTED,
  runtime: word('name or name@range, instead of those in the manifest'),
  copy: word('name or name@range of a version whose assets are copied, or !example'),
  draft: flag('true: its assets may still change, and rules cannot use it'),
  dryRun: flag('true: only checked'),
  name: word('instead of the value in the manifest'),
  version: word('a range, in which the next free version is assigned'),
  deprecatePrevious,
}
export const REBUILD_QUERY = {
  upgrade: Type.Optional(
    Type.Enum(['same', 'patch', 'minor', 'major'], {
      description: 'how far the version of the runtime may move; default patch',
    }),
  ),
  forceVersion: word('a version of the runtime, instead of upgrade'),
  forceDeploy: flag('true: deploys it even if that is not needed'),
  ignoreChecks: flag('true: even while other jobs work on it, shortly after a failure, or without need'),
  skipRebuild: flag('true: deploys the existing build'),
  skipVerify: flag('true: skips the health check; the version is running only if it was before'),
  scaleToZero,
  dryRun: flag('true: only reports what would be done'),
  comment,
  ...TAGS_SHOWN,
}
export const REMOVE_QUERY = {
  force: flag('true: also removes its record'),
  undeploy: flag('true: ends its processes and keeps its record; false: only deprecates it'),
  reset: flag('true: ends its processes and makes it a draft again'),
  comment,
}
export type CommentOptions = Parameters<typeof COMMENTED>
export type AssetsOptions = Parameters<typeof CHANGE_QUERY>
export type ProtectOptions = Parameters<typeof PROTECT_QUERY>
export type PublishOptions = Parameters<typeof PUBLISH_QUERY>
export type VerifyOptions = Parameters<typeof VERIFY_QUERY>
export type RemoveOptions = Parameters<typeof REMOVE_QUERY>
export interface CreateOptions extends Parameters<typeof CREATE_QUERY> {
  readonly manifest?: Readonly<Record<string, unknown>>
}
export interface RebuildOptions extends Parameters<typeof REBUILD_QUERY> {
  readonly overrides?: Decoded<typeof PlugManifestSchema>['deploy']
}
/** Which earlier versions a publication deprecates. Default: `none` for plugs, `patch` for other types. */
export type DeprecatePolicy = NonNullable<PublishOptions['deprecatePrevious']>

const SCOPES = ['any', 'all'] as const
export const SCOPE = {
  scope: Type.Optional(
    Type.Enum(SCOPES, { description: 'all (default): tags of all versions; any: tags of at least one version' }),
  ),
}
export type TagScope = (typeof SCOPES)[number]
export const TAGS_QUERY = { name: ofName, color: word('exact color, such as #4153ea') }
export type TagQueryOptions = Parameters<typeof TAGS_QUERY>
export const LISTED = { ls: flag('true: lists them as JSON') }

export const OF_RUNTIME = {
  includeDeprecated: flag('true: includes deprecated versions'),
  showTags: Type.Optional(
    Type.Enum(SHOWN, { description: 'tags, their names and tags in _embedded, or only names (default)' }),
  ),
}
export const RUNTIMES_QUERY = {
  name: ofName,
  version: word('a range of versions; default *'),
  latest: Type.Optional(
    Type.Enum(RUNTIME_LEVELS, {
      description:
        'the newest of each major, minor (default) or patch version; true: only the newest; false: every version',
    }),
  ),
  ...OF_RUNTIME,
  tags: list('required tags, all of them; repeatable'),
  functionType: list('plugs, webscripts or kfserving, followed by - to exclude it; repeatable'),
  archiveFormat: list('node, python or byoml, followed by - to exclude it; repeatable'),
}
export type RuntimeQuery = Parameters<typeof RUNTIMES_QUERY>

const Text = Type.String()
const VersionLink = Type.Optional(
  Type.Object({ href: Text, version: Text, draft: Type.Boolean(), deprecated: Type.Boolean() }, FULL),
)
const JobHref = Type.Object({ href: Text, jobType: Type.Optional(Type.Enum(JOB_TYPES)) }, FULL)
const Links = Type.Optional(
  Type.Object({ draft: VersionLink, published: VersionLink, job: Type.Optional(JobHref) }, FULL),
)

export const TagListSchema = Type.Object({ tags: Type.Array(TagSchema) }, { title: 'Tags' })
export const TagOneSchema = Type.Object({ tag: TagSchema }, { title: 'SingleTag' })
export const ErrorSchema = Type.Object(
  { error: Text, code: Text, statusCode: Type.Integer(), data: Type.Optional(Type.Array(Text)) },
  { ...FULL, title: 'RegistryError' },
)

const VERSION = {
  createdBy: Text,
  createdAt: Type.String({ description: 'ISO 8601' }),
  updatedBy: Text,
  updatedAt: Text,
  status: Type.String({
    description: 'registered, pending, deployed, running, unhealthy, failed, undeploying or undeployed',
  }),
  failureReason: Type.Optional(Type.Object({}, FULL)),
  runtime: Type.Object({ name: Text, version: Text }, FULL),
  deprecated: Type.Boolean(),
  draft: Type.Boolean({ description: 'true: its assets may still change, and rules cannot use it' }),
  plug: Type.Optional(PlugManifestSchema),
  webscript: Type.Optional(WebscriptManifestSchema),
  model: Type.Optional(ModelManifestSchema),
  secret: Type.Optional(Type.Union([Text, Type.Null()])),
  lockedPackages: Type.Optional(
    Type.Array(Text, {
      description: 'Python packages that its first build installed, as name==version with a digest',
    }),
  ),
  updates: Type.Optional(Type.Array(Type.Object({ operation: Text, at: Text, by: Text }, FULL))),
  _links: Links,
}
const related = Type.Optional(Type.Unsafe<Decoded<TObject<typeof VERSION>>>(Type.Object({}, FULL)))
const FunctionSchema = Type.Object(
  { ...VERSION, _embedded: Type.Optional(Type.Object({ draft: related, published: related })) },
  { ...FULL, title: 'FunctionVersion' },
)
export interface FunctionAnswer extends Decoded<typeof FunctionSchema> {}
const _embedded = Type.Optional(Type.Object({ tags: Type.Array(TagSchema) }))
const SINGLE = { entity: FunctionSchema, _links: Links, _embedded }

export const PageSchema = Type.Object(
  { entities: Type.Array(FunctionSchema), count: Type.Integer(), limit: Type.Integer(), page, _embedded },
  { ...FULL, title: 'FunctionVersions' },
)
export const SingleSchema = Type.Object(SINGLE, { ...FULL, title: 'SingleFunction' })
export const ChangeSchema = Type.Object({ message: Text, ...SINGLE }, { ...FULL, title: 'ChangedFunction' })
const Cause = Type.Object(
  {
    changed: Type.Boolean(),
    reason: Text,
    backoff: Type.Optional(Type.Boolean({ description: 'it failed recently' })),
    oldValue: Type.Optional(Text),
    newValue: Type.Optional(Text),
  },
  FULL,
)
export interface Cause extends Decoded<typeof Cause> {}
export const RebuildSchema = Type.Object(
  { message: Text, causes: Type.Record(Text, Cause), ...SINGLE },
  { ...FULL, title: 'RebuiltFunction' },
)
export const RemovalSchema = Type.Object(
  { message: Text, versions: Type.Array(Text), _links: Links },
  { title: 'RemovedFunction' },
)
export type SingleAnswer = Decoded<typeof SingleSchema>
export type ChangeAnswer = Decoded<typeof ChangeSchema> & { readonly causes?: Readonly<Record<string, Cause>> }
export type RemovalAnswer = Decoded<typeof RemovalSchema>

const FunctionOfJob = Type.Object({
  functionType: Text,
  name: Text,
  version: Text,
  runtime: Text,
  runtimeVersion: Text,
})
const JOB = {
  type: Type.Enum(JOB_TYPES),
  state: Type.Enum(JOB_STATES),
  operation: Text,
  createdBy: Text,
  createdAt: Text,
  processedAt: Type.Optional(Text),
  finishedAt: Type.Optional(Text),
  attemptsMade: Type.Integer(),
  function: Type.Optional(FunctionOfJob),
  request: Type.Optional(Type.Object({}, FULL)),
  result: Type.Optional(Type.Unsafe<Json>(Type.Unknown())),
  job: Type.Optional(
    Type.Object(
      { failedReason: Type.Optional(Text), parent: Type.Optional(Type.Object({ id: Text })) },
      { ...FULL, description: 'state of the job in the queue' },
    ),
  ),
}
const JobSchema = Type.Object({ id: Text, ...JOB }, { ...FULL, title: 'FunctionJob' })
export const JobsSchema = Type.Object(
  { jobs: Type.Array(JobSchema), limit: Type.Integer() },
  { ...FULL, title: 'FunctionJobs' },
)
export const JobDetailSchema = Type.Object(
  { job: Type.Object(JOB, FULL), _links: Links },
  { title: 'SingleFunctionJob' },
)
export type JobAnswer = Decoded<typeof JobSchema>
export const RuntimesSchema = Type.Object(
  { runtimes: Type.Array(Type.Object({ name: Text, title: Text }, FULL)) },
  { title: 'Runtimes' },
)
export const RuntimeSchema = Type.Object(
  { runtime: Type.Object({ name: Text, title: Text, version: Text }, FULL) },
  { title: 'Runtime' },
)
export const LogSchema = Type.Object(
  { lines: Type.Array(Type.Object({ time: Text, level: Text, text: Text })) },
  { title: 'FunctionLog' },
)
export const Anything = Type.Object({}, FULL)
export const Bytes = Type.Any({ description: 'a gzipped tar, or the bytes of one asset' })
