/**
 * Contract of resources, types and constraints, in process and over fetch (`client.ts`). The service validates external
 * input itself: a body may be any JSON.
 *
 * RESOURCE-1 a change and its record in the history are one commit; no update is lost to another writer
 * RESOURCE-2 what a resource shows is its own attributes over those of its type, attribute by attribute
 * RESOURCE-3 managed tasks follow types and resources exactly, also across a crash: what is missing is made, what is
 *   too much goes
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `CONFLICT`, `WRONG_STATUS`, `TOO_LARGE`,
 * `SUPERSEDED` (of rules alone), `CLOSED`.
 */
import type { EffectOfTask } from '#services/shared/contract'
import type { Caller, ExpectedVersion, FeedReader, Issue, Json, Page, ReaderOptions } from '#kernel'
import type { AttributeOrigin, Cascade } from './resource-schema.ts'

export interface ResourcesService {
  as(caller: Caller): ResourcesApi & {
    changes(options?: Omit<ReaderOptions, 'topic'>): FeedReader<MetadataEvent>
  }
}

/** Service inside the host, for neighbours and the host. */
export interface InternalResources extends ResourcesService {
  /** Resumes bulk operations and managed tasks. */
  start(closing?: AbortSignal): Promise<void>
  stop(): Promise<void>
  gauges(): ResourcesGauges
  /**
   * Resource with inherited values, synchronously when cached, as the engine needs it. Undefined for an unknown one.
   */
  lookup(id: string): ResourceEntity | undefined | Promise<ResourceEntity | undefined>
  checkPatch(body: unknown): readonly Issue[]
  /**
   * Creates unknown resources that sent a message, and records the time of the last message of each. Returns undefined
   * when all are known. Rejects only on a failure of the store.
   */
  discover(seen: readonly SeenResource[]): Promise<void> | undefined
}

export interface SeenResource {
  readonly resource: string
  readonly time: number
  readonly message: Json
}

export interface ResourcesGauges {
  readonly openOperations: number
  /** Number of resources whose managed tasks are known to be out of date */
  readonly upkeepWaiting: number
  readonly eventStreams: number
}

export type ResourceEntity = Readonly<Record<string, Json>> & { readonly id: string }

/** Event of the stream, and of the log that adapters follow. */
export interface MetadataEvent {
  readonly type: 'create' | 'update' | 'delete' | 'discovered'
  readonly objectType: 'resource' | 'resourcetype'
  readonly timestamp: number
  readonly resource?: ResourceEntity
  readonly resourcetype?: ResourceEntity
  /** Of an update: previous values of the changed attributes; `null` for new ones */
  readonly oldValues?: Readonly<Record<string, Json>>
  /** Of `discovered` */
  readonly message?: Json
  /** Of `delete`: what was deleted with it */
  readonly cascadeDelete?: readonly string[]
}

export interface ResourcesApi {
  readonly resources: ResourceApi
  readonly types: TypeApi
  readonly constraints: ConstraintApi
  readonly operations: OperationApi
}

/** Expected version of a write; the ETag over HTTP. */
export interface WriteOptions {
  readonly ifVersion?: ExpectedVersion
}

/** Options of a change by a rule: a repeated effect changes nothing, a late one is `SUPERSEDED`. */
export interface PatchOptions extends WriteOptions {
  readonly cause?: EffectOfTask
}

/** Stored value with its current version. */
export interface Versioned<T> {
  readonly value: T
  readonly version: number
}

export interface ShowOptions {
  /** With inherited values; default true */
  readonly denormalized?: boolean
}

export interface ResourceApi {
  create(body: unknown): Promise<Versioned<ResourceEntity>>
  /** Creates it when it does not exist. */
  replace(id: string, body: unknown, options?: WriteOptions): Promise<Versioned<ResourceEntity>>
  patch(id: string, body: unknown, options?: PatchOptions): Promise<Versioned<ResourceEntity>>
  remove(id: string, options?: WriteOptions & { readonly cascade?: readonly Cascade[] }): Promise<void>
  get(id: string, options?: ShowOptions): Promise<Versioned<ResourceEntity>>
  /** `query`: parameters of the listing as received (reference of `GET /api/resources`) */
  list(query: ListQuery): Promise<Page<ResourceEntity>>
  children(id: string, query: ListQuery): Promise<Page<ResourceEntity>>
  referrers(id: string, query: ListQuery): Promise<Page<ResourceEntity>>
  changes(id: string, query: ListQuery): Promise<Page<ChangeRecord>>
  commands(id: string, query: ListQuery): Promise<Page<Readonly<Record<string, Json>>>>
  explain(id: string): Promise<readonly AttributeOrigin[]>
}

/** Parameters by name; repeated ones are arrays. */
export type ListQuery = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export interface ChangeRecord {
  readonly time: string
  readonly userId: string
  readonly change: 'created' | 'updated' | 'deleted'
  readonly resourceId?: string
  readonly resource?: ResourceEntity
  readonly resourceTypeId?: string
  readonly resourceType?: ResourceEntity
}

export interface TypeApi {
  create(body: unknown): Promise<Versioned<ResourceEntity>>
  replace(id: string, body: unknown, options?: WriteOptions): Promise<Versioned<ResourceEntity>>
  /** `created`: whether it was created. */
  patch(
    id: string,
    body: unknown,
    options?: WriteOptions,
  ): Promise<Versioned<ResourceEntity> & { readonly created: boolean }>
  remove(id: string, options?: WriteOptions): Promise<void>
  get(id: string): Promise<Versioned<ResourceEntity>>
  list(query: ListQuery): Promise<Page<ResourceEntity>>
  changes(id: string, query: ListQuery): Promise<Page<ChangeRecord>>
  constraints(id: string, form: 'merged' | 'schema' | 'paged', query?: ListQuery): Promise<unknown>
  revalidate(id: string): Promise<Versioned<ResourceEntity>>
}

export interface ConstraintApi {
  create(body: unknown): Promise<ResourceEntity>
  replace(id: string, body: unknown): Promise<ResourceEntity>
  remove(id: string): Promise<void>
  get(id: string): Promise<ResourceEntity>
  /** Constraint as JSON Schema. */
  schema(id: string): Promise<unknown>
  list(query: ListQuery): Promise<Page<ResourceEntity>>
}

/** Operations of `POST /api/batch` for `resource` and `resourcetype`. */
export interface OperationApi {
  queue(body: unknown): Promise<QueuedOperation>
  get(id: string): Promise<Readonly<Record<string, unknown>>>
}

export interface QueuedOperation {
  readonly id: string
  readonly user: string
  readonly queueTime: string
  readonly operation: { readonly entity: string; readonly action: string; readonly description: string }
}

/** Task that a template of the type requires for a resource. */
export interface WantedTask {
  readonly resource: string
  readonly type: string
  /** Digest of the entry and its settings: tasks with equal keys are the same */
  readonly key: string
  readonly templateName: string
  /** Task settings of the entry: `type`, `frequency`, `cron` ... */
  readonly settings: Readonly<Record<string, Json>>
}

export interface UnstartableTask {
  /** Invalid or missing setting */
  readonly setting: string
  readonly message: string
  readonly suggestion?: string
}

/** Port to the rules for managed tasks. Calls may be repeated after a crash. */
export interface ManagedTasks {
  /** Existing managed tasks of at most 500 resources; `key` is that of `WantedTask`. */
  of(
    resources: readonly string[],
  ): Promise<
    readonly { readonly resource: string; readonly key: string; readonly type: string; readonly taskId: string }[]
  >
  /** Reason why tasks with these settings can never start for any resource; undefined when they can. */
  check?(wanted: Pick<WantedTask, 'templateName' | 'settings'>): Promise<UnstartableTask | undefined>
  /** Creates and starts a missing task. Rejects when the template is unusable. */
  make(wanted: WantedTask): Promise<void>
  remove(taskId: string): Promise<void>
  /** Rebinds the tasks whose nodes use references in the metadata of the resource. */
  rebind?(resource: string): Promise<void>
}

/** Port to the rules for commands: runs one actuator once. */
export interface ActuatorCall {
  run(call: {
    readonly name: string
    /** Exact version, or `latest` */
    readonly version: string
    readonly properties: Readonly<Record<string, Json>>
    readonly resource: string
    readonly hops: number
    /** With hops: id of the root */
    readonly root?: string
    /** Id of the command, stable across crashes */
    readonly id: string
  }): Promise<{
    readonly version: string
    readonly success: boolean
    readonly message?: string
    readonly rawData?: Json
  }>
}

/**
 * Deletions that accompany a resource on request (`cascade`). They precede that of the resource, so that they can be
 * repeated.
 */
export interface Cascades {
  readonly alarms?: (resource: string) => Promise<void>
  readonly measurements?: (resource: string) => Promise<void>
  readonly tasks?: (resource: string) => Promise<void>
}
