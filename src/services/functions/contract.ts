/**
 * Functions of tenants: versions by name, their assets, and the jobs that build, deploy and check them.
 *
 * FUNCTION-1 a version says `running` only after it has answered itself
 * FUNCTION-2 what was published is never changed: its assets are those that were built and checked
 * FUNCTION-3 no method reaches a function of another tenant
 * FUNCTION-4 a version that a task or template uses is not taken away
 *
 * Errors are AppErrors: `VALIDATION`, `TOO_LARGE`, `NOT_FOUND`, `CONFLICT`, `CLOSED`.
 */
import type { Job, JobState, Progress } from '#jobs'
import type { Caller, CancelSignal, Json, Deadline } from '#kernel'
import type { Write } from '#storage'
import type {
  AssetsOptions,
  Cause,
  CommentOptions,
  CreateOptions,
  FunctionQuery,
  InclusionQuery,
  JobAnswer,
  JobEventsQuery,
  JobType,
  ProtectOptions,
  PublishOptions,
  RebuildOptions,
  RemoveOptions,
  TagQueryOptions,
  TagScope,
  TagsQuery,
  VerifyOptions,
} from './function-schema.ts'
import type { FunctionType } from './function-type.ts'
import type { DeclaredProperty, TagInput } from './manifest-schema.ts'

export type { FunctionQuery, JobType } from './function-schema.ts'
export type { FunctionType } from './function-type.ts'
export type { DeclaredProperty } from './manifest-schema.ts'
export type { CallFailure } from '#platform/sandbox'
export { PIECE_BYTES, type ApiAnswer, type ApiRequest, type WebCallParams, type WebHead } from './runtimes/web-call.ts'

/** A version that rules may use. */
export interface DeployedPlug {
  readonly name: string
  readonly version: string
  readonly kind: 'sensor' | 'actuator'
  readonly description?: string
  readonly category?: string
  readonly states: readonly string[]
  readonly input: readonly DeclaredProperty[]
  readonly output: readonly DeclaredProperty[]
}

/** The functions of one tenant, for routes and the other services of the host. */
export interface InternalFunctions {
  as(caller: Caller, type: FunctionType): FunctionsApi
  /** Plugs that rules may use: the same list until it changes. */
  plugs(): readonly DeployedPlug[]
  /** Calls a plug in its own process. `PLUG_FAILED`, `NOT_FOUND`, `CLOSED`. */
  call(name: string, version: string, params: unknown, options: CallOptions): Promise<unknown>
  /** The versions of a webscript, the newest first; empty without one. */
  webscripts(name: string): readonly DeployedWebscript[]
  /** The name of the webscript with that id. */
  webscriptName(id: string): string | undefined
  /** Calls a version in its own process. `PLUG_FAILED` (its `cause` is a CallFailure), `NOT_FOUND`, `TOO_LARGE`, `CLOSED`. */
  callWebscript(name: string, version: string, params: unknown, options: CallOptions): Promise<unknown>
  /** `FORBIDDEN` when the caller may not read the assets of a version, `NOT_FOUND`. */
  checkReadable(caller: Caller, type: FunctionType, name: string, version: string): Promise<void>
  /** Writes that fail once the version changes; undefined: it is gone, or is being removed. */
  whileThere(type: FunctionType, name: string, version: string): Promise<readonly Write[] | undefined>
  /** ms of CPU time of the tenant's processes on this host since the start */
  cpuMs(): number
  start(closing?: AbortSignal): Promise<void>
  stop(): Promise<void>
  gauges(): { readonly openJobs: number }
}

export interface CallOptions {
  readonly signal?: CancelSignal
  /** for whoever gives the call more time as it gets on */
  readonly timer?: Deadline
  /** told when no process was there and one is started */
  readonly onStart?: () => void
}

/** A version of a webscript: whether it can be called, and by whom. */
export interface DeployedWebscript {
  /** as addresses have it: the same for all versions */
  readonly id: string
  readonly tenant: string
  readonly name: string
  readonly version: string
  readonly draft: boolean
  readonly deprecated: boolean
  readonly status: string
  /** it has answered once, and is not being taken away */
  readonly isRunning: boolean
  readonly isPrivate: boolean
  /** why it does not run */
  readonly failure?: string
  /** one that lets its holder call it */
  readonly secret?: string
}

/** A line that a process of a function wrote. */
export interface FunctionLine extends LogLine {
  readonly type: FunctionType
  readonly name: string
  readonly version: string
}

/** What one caller can do with the functions of one type. */
export interface FunctionsApi {
  /** Of assets, and of what `copy` names. */
  create(upload: Upload, options?: CreateOptions): Promise<Change>
  list(query: FunctionQuery): Promise<FunctionPage>
  /** The latest version of a name. */
  latest(name: string, query?: InclusionQuery & TagsQuery): Promise<SingleFunction>
  get(name: string, version: string, query?: TagsQuery): Promise<SingleFunction>
  /** A gzipped tar of all assets. `FORBIDDEN` when it is protected and somebody else's. */
  content(name: string, version: string): Promise<Uint8Array>
  /** `prefix`: of their paths. */
  assets(name: string, version: string, prefix?: string): Promise<readonly AssetInfo[]>
  /** `FORBIDDEN` as `content`. */
  asset(name: string, version: string, path: string): Promise<Uint8Array>
  /** The path of the asset with a role. */
  pathOf(name: string, version: string, role: AssetRole): Promise<string>
  /** Drafts alone. `FORBIDDEN` for a draft of somebody else, unless `chown` takes it over; so for all that change one. */
  putAssets(name: string, version: string, upload: Upload, options?: AssetsOptions): Promise<Change>
  removeAsset(name: string, version: string, path: string, options?: AssetsOptions): Promise<Change>
  /** Members of a draft's manifest, laid over those that it has. */
  patchManifest(name: string, version: string, patch: unknown, options?: AssetsOptions): Promise<Change>
  /** Metadata and tags, laid over those that there are; also of what is published. */
  patchMetadata(name: string, version: string, patch: unknown, options?: CommentOptions): Promise<SingleFunction>
  /** The documentation of a plug's interface. */
  patchDocumentation(name: string, version: string, patch: unknown, options?: CommentOptions): Promise<SingleFunction>
  /** Of one version, or of all of a name. */
  protect(name: string, version: string | undefined, options?: ProtectOptions): Promise<Removal>
  publish(name: string, version: string, options?: PublishOptions): Promise<Change>
  rebuild(name: string, version: string, options?: RebuildOptions): Promise<Change>
  verify(name: string, version: string, options?: VerifyOptions): Promise<Change>
  /** Of one version, or of all of a name. */
  remove(name: string, version: string | undefined, options?: RemoveOptions): Promise<Removal>
  /** Tags that any or all versions of a name have, or those of one version. */
  tags(name: string, version: string | undefined, scope?: TagScope): Promise<readonly Tag[]>
  /** Replaces, adds or takes away tags of one version, or of all of a name; gives those that they then have. */
  changeTags(name: string, version: string | undefined, change: TagChange, scope?: TagScope): Promise<readonly Tag[]>
  /** Lines of its processes on this host, the newest last. */
  log(name: string, version: string): Promise<readonly LogLine[]>
  readonly jobs: JobsApi
  /** Of the tenant, whatever has them. */
  readonly allTags: TagsApi
}

export interface TagsApi {
  list(query: TagQueryOptions): Promise<readonly Tag[]>
  /** `NOT_FOUND` */
  get(name: string): Promise<Tag>
  /** Takes away those that no function has; gives them. */
  dropUnused(): Promise<readonly Tag[]>
}

export type TagChange =
  | { readonly kind: 'set' | 'add'; readonly tags: readonly TagInput[] }
  /** without names: all of them; a name that is not there is `NOT_FOUND` */
  | { readonly kind: 'remove'; readonly name?: string }

export interface JobsApi {
  list(query: JobQuery): Promise<readonly FunctionJob[]>
  get(type: string, id: string): Promise<FunctionJob>
  events(query: JobEventQuery): AsyncIterable<FunctionJobEvent>
  /** Resolves when it is over, or the host stops. */
  finished(id: string): Promise<void>
}

/** Assets by path. */
export type Upload = ReadonlyMap<string, Uint8Array>

/** Why each kind of job is needed, or is not. */
export type Causes = Readonly<Partial<Record<JobType, Cause>>>

/** What became of a request, and the job that goes on with it. */
export interface Change {
  readonly message: string
  readonly entity: FunctionVersion
  /** of a rebuild */
  readonly causes?: Causes
  /** the root of a tree of jobs; undefined: it is done */
  readonly job?: JobLink
  readonly isDone: boolean
}

export interface JobLink {
  readonly type: JobType
  readonly id: string
}

export interface Removal {
  readonly message: string
  readonly versions: readonly string[]
  readonly job?: JobLink
}

/** A version as it is shown. */
export interface FunctionVersion {
  readonly type: FunctionType
  readonly name: string
  readonly version: string
  readonly status: string
  readonly draft: boolean
  readonly deprecated: boolean
  readonly record: Readonly<Record<string, unknown>>
  /** where they are to be embedded */
  readonly tags?: readonly Tag[]
}

/** One version, with what belongs to it. */
export interface SingleFunction extends FunctionVersion {
  readonly related: RelatedVersions
  /** its jobs that are under way */
  readonly job?: JobLink
}

/** The newest draft and the newest published version of a name, where they are others. */
export interface RelatedVersions {
  readonly draft?: RelatedVersion
  readonly published?: RelatedVersion
}

/** The rest is told where it is embedded. */
export type RelatedVersion = Pick<FunctionVersion, 'type' | 'name' | 'version' | 'draft' | 'deprecated'> &
  Partial<FunctionVersion>

export interface Tag {
  readonly name: string
  /** `#rrggbb` */
  readonly color: string
}

export const ASSET_ROLES = ['manifest', 'main', 'project'] as const
export type AssetRole = (typeof ASSET_ROLES)[number]

export interface AssetInfo {
  readonly path: string
  readonly size: number
  readonly role: AssetRole | 'lib' | 'other'
}

export interface LogLine {
  /** epoch ms */
  readonly time: number
  readonly level: string
  readonly text: string
}

export interface FunctionPage {
  readonly entities: readonly ListedFunction[]
  /** all that match */
  readonly count: number
  readonly limit: number
  readonly page?: number
}

export interface ListedFunction extends FunctionVersion {
  readonly related?: RelatedVersions
  readonly showRelated: 'embed' | 'link' | 'none'
}

export interface JobQuery {
  readonly functionTypes?: readonly FunctionType[] | undefined
  readonly limit?: number | undefined
  readonly types?: readonly JobType[] | undefined
  readonly states?: readonly JobState[] | undefined
  readonly createdBefore?: number | undefined
  readonly createdAfter?: number | undefined
  readonly name?: string | undefined
  readonly version?: string | undefined
}

/** A job of the registry. Only one that was asked for by its id tells all. */
export interface FunctionJob {
  readonly type: JobType
  readonly job: Pick<Job, 'id' | 'state' | 'queueTime' | 'attemptsMade'> & Partial<Job>
  /** absent: it is about several */
  readonly function?: FunctionOfJob
  readonly operation: string
}

export interface FunctionOfJob extends Omit<NonNullable<JobAnswer['function']>, 'functionType'> {
  readonly functionType: FunctionType
}

export interface JobEventQuery extends JobEventsQuery {
  readonly signal: AbortSignal
}

/** `ack` first, `close` last when one job was asked for. */
export type FunctionJobEvent =
  | { readonly event: 'ack' | 'close'; readonly text: string }
  | {
      readonly event: JobState | 'progress'
      readonly type: JobType
      readonly id: string
      readonly function?: FunctionOfJob
      /** epoch ms */
      readonly time: number
      readonly prev?: JobState
      readonly result?: Json
      readonly failedReason?: string
      readonly delay?: number
      readonly progress?: Progress
    }
