/**
 * Functions: versions by name, their assets, and the jobs that build, deploy and check them.
 *
 * FUNCTION-1 a version is `running` only after it has responded to a check
 * FUNCTION-2 published versions are immutable, with the assets that were built and checked
 * FUNCTION-3 no method grants access to a function of another tenant
 * FUNCTION-4 a version that a task or template uses is not removed
 *
 * Errors are AppErrors: `VALIDATION`, `TOO_LARGE`, `NOT_FOUND`, `CONFLICT`, `CLOSED`.
 */
import type { Job, JobState, Progress } from '#jobs'
import type { Caller, CancelSignal, Deadline, Json, Rights } from '#kernel'
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

/** The function registry of one tenant, for use inside the host. */
export interface InternalFunctions {
  as(caller: Caller, type: FunctionType): FunctionsApi
  /** Returns the plugs for rules; the same array until they change. */
  plugs(): readonly DeployedPlug[]
  /** Runs a plug in its own process. Throws `PLUG_FAILED`, `NOT_FOUND` or `CLOSED`. */
  call(name: string, version: string, params: unknown, options: CallOptions): Promise<unknown>
  /** Returns the versions of a webscript, newest first. */
  webscripts(name: string): readonly DeployedWebscript[]
  webscriptName(id: string): string | undefined
  /** Calls a webscript. Throws `PLUG_FAILED` (its `cause` is a CallFailure), `NOT_FOUND`, `TOO_LARGE` or `CLOSED`. */
  callWebscript(name: string, version: string, params: unknown, options: CallOptions): Promise<unknown>
  /** Throws `FORBIDDEN` when the caller may not read the assets of a version, or `NOT_FOUND`. */
  checkReadable(caller: Caller, type: FunctionType, name: string, version: string): Promise<void>
  /** Returns writes that conflict once the version changes; undefined when it is deleted or being removed. */
  whileThere(type: FunctionType, name: string, version: string): Promise<readonly Write[] | undefined>
  /** Returns the CPU time in ms that the tenant's processes on this host have used since the start. */
  cpuMs(): number
  start(closing?: AbortSignal): Promise<void>
  stop(): Promise<void>
  gauges(): { readonly openJobs: number }
}

export interface CallOptions {
  readonly signal?: CancelSignal
  /** deadline of the call, which progress extends */
  readonly timer?: Deadline
  /** called when the call has to start a process */
  readonly onStart?: () => void
}

export interface DeployedWebscript {
  /** id used in addresses, shared by all versions */
  readonly id: string
  readonly tenant: string
  readonly name: string
  readonly version: string
  readonly draft: boolean
  readonly deprecated: boolean
  readonly status: string
  /** true when the version is verified and not being removed */
  readonly isRunning: boolean
  readonly isPrivate: boolean
  /** rights of its requests to the API; absent: all rights */
  readonly rights?: Rights
  readonly failure?: string
  /** secret whose holder may call the webscript */
  readonly secret?: string
}

export interface FunctionLine extends LogLine {
  readonly type: FunctionType
  readonly name: string
  readonly version: string
}

export interface FunctionsApi {
  /** Creates a version from assets, or from what `copy` names. */
  create(upload: Upload, options?: CreateOptions): Promise<Change>
  list(query: FunctionQuery): Promise<FunctionPage>
  latest(name: string, query?: InclusionQuery & TagsQuery): Promise<SingleFunction>
  get(name: string, version: string, query?: TagsQuery): Promise<SingleFunction>
  /** Returns the assets as a gzipped tar. Throws `FORBIDDEN` when another user's version is protected. */
  content(name: string, version: string): Promise<Uint8Array>
  /** Lists assets whose path begins with `prefix`. */
  assets(name: string, version: string, prefix?: string): Promise<readonly AssetInfo[]>
  /** Returns one asset. Throws `FORBIDDEN` like `content`. */
  asset(name: string, version: string, path: string): Promise<Uint8Array>
  pathOf(name: string, version: string, role: AssetRole): Promise<string>
  /**
   * Replaces the assets of a draft, as with all methods that change assets. Throws `FORBIDDEN` for another user's
   * draft, unless `chown` takes the draft over.
   */
  putAssets(name: string, version: string, upload: Upload, options?: AssetsOptions): Promise<Change>
  removeAsset(name: string, version: string, path: string, options?: AssetsOptions): Promise<Change>
  /** Merges fields into the manifest of a draft. */
  patchManifest(name: string, version: string, patch: unknown, options?: AssetsOptions): Promise<Change>
  /** Merges metadata and tags; allowed for a published version too. */
  patchMetadata(name: string, version: string, patch: unknown, options?: CommentOptions): Promise<SingleFunction>
  patchDocumentation(name: string, version: string, patch: unknown, options?: CommentOptions): Promise<SingleFunction>
  protect(name: string, version: string | undefined, options?: ProtectOptions): Promise<Removal>
  publish(name: string, version: string, options?: PublishOptions): Promise<Change>
  rebuild(name: string, version: string, options?: RebuildOptions): Promise<Change>
  verify(name: string, version: string, options?: VerifyOptions): Promise<Change>
  remove(name: string, version: string | undefined, options?: RemoveOptions): Promise<Removal>
  /** Returns the tags of one version, or those on any or all versions of a name. */
  tags(name: string, version: string | undefined, scope?: TagScope): Promise<readonly Tag[]>
  /** Changes tags and returns the resulting ones. */
  changeTags(name: string, version: string | undefined, change: TagChange, scope?: TagScope): Promise<readonly Tag[]>
  /** Returns lines that the version's processes on this host wrote, oldest first. */
  log(name: string, version: string): Promise<readonly LogLine[]>
  readonly jobs: JobsApi
  readonly allTags: TagsApi
}

export interface TagsApi {
  list(query: TagQueryOptions): Promise<readonly Tag[]>
  get(name: string): Promise<Tag>
  /** Deletes unused tags and returns them. */
  dropUnused(): Promise<readonly Tag[]>
}

export type TagChange =
  | { readonly kind: 'set' | 'add'; readonly tags: readonly TagInput[] }
  /** removes all tags, or the named one; throws `NOT_FOUND` when that is missing */
  | { readonly kind: 'remove'; readonly name?: string }

export interface JobsApi {
  list(query: JobQuery): Promise<readonly FunctionJob[]>
  get(type: string, id: string): Promise<FunctionJob>
  events(query: JobEventQuery): AsyncIterable<FunctionJobEvent>
  /** Resolves when the job has ended, or the host stops. */
  finished(id: string): Promise<void>
}

export type Upload = ReadonlyMap<string, Uint8Array>

export type Causes = Readonly<Partial<Record<JobType, Cause>>>

/** The outcome of a request, with the job that continues it. */
export interface Change {
  readonly message: string
  readonly entity: FunctionVersion
  /** reasons for a rebuild */
  readonly causes?: Causes
  /** the root job; undefined when the change is already done */
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

export interface FunctionVersion {
  readonly type: FunctionType
  readonly name: string
  readonly version: string
  readonly status: string
  readonly draft: boolean
  readonly deprecated: boolean
  readonly record: Readonly<Record<string, unknown>>
  readonly tags?: readonly Tag[]
}

export interface SingleFunction extends FunctionVersion {
  readonly related: RelatedVersions
  readonly job?: JobLink
}

/** The newest draft and the newest published version of the name, leaving out the version itself. */
export interface RelatedVersions {
  readonly draft?: RelatedVersion
  readonly published?: RelatedVersion
}

/** All fields are present when the related version is embedded. */
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
  /** epoch ms when the line was written */
  readonly time: number
  readonly level: string
  readonly text: string
}

export interface FunctionPage {
  readonly entities: readonly ListedFunction[]
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

/** A job of a function. A single job, unlike one in a list, includes all fields of the stored job. */
export interface FunctionJob {
  readonly type: JobType
  readonly job: Pick<Job, 'id' | 'state' | 'queueTime' | 'attemptsMade'> & Partial<Job>
  readonly function?: FunctionOfJob
  readonly operation: string
}

export interface FunctionOfJob extends Omit<NonNullable<JobAnswer['function']>, 'functionType'> {
  readonly functionType: FunctionType
}

export interface JobEventQuery extends JobEventsQuery {
  readonly signal: AbortSignal
}

/** An event of jobs. The stream begins with `ack`; for a single job it ends with `close`. */
export type FunctionJobEvent =
  | { readonly event: 'ack' | 'close'; readonly text: string }
  | {
      readonly event: JobState | 'progress'
      readonly type: JobType
      readonly id: string
      readonly function?: FunctionOfJob
      /** epoch ms of the event */
      readonly time: number
      readonly prev?: JobState
      readonly result?: Json
      readonly failedReason?: string
      readonly delay?: number
      readonly progress?: Progress
    }
