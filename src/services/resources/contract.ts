/**
 * Contract of resources, types and constraints, in process and over fetch (`client.ts`). The service validates external
 * input itself: a body may be any JSON.
 *
 * RESOURCE-1 a change and its record in the history are one commit; concurrent writers lose no updates
 * RESOURCE-2 a resource shows its own attributes merged over the attributes of its type, attribute by attribute
 * RESOURCE-3 managed tasks follow types and resources exactly, even across a crash: missing tasks are created, surplus
 *   tasks are removed
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `CONFLICT`, `WRONG_STATUS`, `TOO_LARGE`,
 * `SUPERSEDED` (for rules only), `CLOSED`.
 */
import type { EffectOfTask } from '#services/shared/contract'
import type { Caller, ExpectedVersion, FeedReader, Issue, Json, Page, ReaderOptions, Rights } from '#kernel'
import type { AttributeOrigin, Cascade } from './resource-schema.ts'

export interface ResourcesService {
  as(caller: Caller): ResourcesApi & {
    changes(options?: Omit<ReaderOptions, 'topic'>): FeedReader<MetadataEvent>
  }
}

/** The service as the host and neighbouring services use it. */
export interface InternalResources extends ResourcesService {
  /** Resumes bulk operations and managed tasks. */
  start(closing?: AbortSignal): Promise<void>
  stop(): Promise<void>
  gauges(): ResourcesGauges
  /**
   * Returns a resource with inherited values, synchronously if cached, as the engine needs. Returns undefined for an
   * unknown resource.
   */
  lookup(id: string): ResourceEntity | undefined | Promise<ResourceEntity | undefined>
  checkPatch(body: unknown): readonly Issue[]
  /**
   * Creates unknown resources that sent a message, and records the time of each resource's last message. Returns
   * undefined if all are known. Rejects only if the store fails.
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
  /** number of resources whose managed tasks are known to be out of date */
  readonly upkeepWaiting: number
  readonly eventStreams: number
}

export type ResourceEntity = Readonly<Record<string, Json>> & { readonly id: string }

/** An event in the stream, and in the log that adapters follow. */
export interface MetadataEvent {
  readonly type: 'create' | 'update' | 'delete' | 'discovered'
  readonly objectType: 'resource' | 'resourcetype'
  readonly timestamp: number
  readonly resource?: ResourceEntity
  readonly resourcetype?: ResourceEntity
  /** for `update`: previous values of the changed attributes; `null` for new attributes */
  readonly oldValues?: Readonly<Record<string, Json>>
  /** for `discovered` */
  readonly message?: Json
  /** for `delete`: ids that were deleted along with the resource */
  readonly cascadeDelete?: readonly string[]
}

export interface ResourcesApi {
  readonly resources: ResourceApi
  readonly types: TypeApi
  readonly constraints: ConstraintApi
  readonly operations: OperationApi
}

/** Expects a version when writing; over HTTP, the ETag. */
export interface WriteOptions {
  readonly ifVersion?: ExpectedVersion
}

/** Options for a change by a rule. A repeated effect changes nothing; a late effect is refused with `SUPERSEDED`. */
export interface PatchOptions extends WriteOptions {
  readonly cause?: EffectOfTask
}

/** A stored value with its current version. */
export interface Versioned<T> {
  readonly value: T
  readonly version: number
}

export interface ShowOptions {
  /** include inherited values; default true */
  readonly denormalized?: boolean
}

export interface ResourceApi {
  create(body: unknown): Promise<Versioned<ResourceEntity>>
  /** Creates the resource if it does not exist. */
  replace(id: string, body: unknown, options?: WriteOptions): Promise<Versioned<ResourceEntity>>
  patch(id: string, body: unknown, options?: PatchOptions): Promise<Versioned<ResourceEntity>>
  remove(id: string, options?: WriteOptions & { readonly cascade?: readonly Cascade[] }): Promise<void>
  get(id: string, options?: ShowOptions): Promise<Versioned<ResourceEntity>>
  /** `query`: the listing parameters as received; see `GET /api/resources`. */
  list(query: ListQuery): Promise<Page<ResourceEntity>>
  children(id: string, query: ListQuery): Promise<Page<ResourceEntity>>
  referrers(id: string, query: ListQuery): Promise<Page<ResourceEntity>>
  changes(id: string, query: ListQuery): Promise<Page<ChangeRecord>>
  commands(id: string, query: ListQuery): Promise<Page<Readonly<Record<string, Json>>>>
  explain(id: string): Promise<readonly AttributeOrigin[]>
}

/** Parameters by name; a repeated parameter becomes an array. */
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
  /** `created`: whether the type was created. */
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
  /** Returns the constraint as JSON Schema. */
  schema(id: string): Promise<unknown>
  list(query: ListQuery): Promise<Page<ResourceEntity>>
}

/** Runs the operations of `POST /api/batch` for `resource` and `resourcetype`. */
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

/** A task that a resource must have because of a template of its type. */
export interface WantedTask {
  readonly resource: string
  readonly type: string
  /** digest of the entry and its settings; tasks with equal keys are the same */
  readonly key: string
  readonly templateName: string
  /** task settings in the entry: `type`, `frequency`, `cron` ... */
  readonly settings: Readonly<Record<string, Json>>
  /** rights of who stored the entry; absent: all rights */
  readonly rights?: Rights
}

export interface UnstartableTask {
  /** the invalid or missing setting */
  readonly setting: string
  readonly message: string
  readonly suggestion?: string
}

/** Port to the rules service for managed tasks. Calls may be repeated after a crash. */
export interface ManagedTasks {
  /** Returns the existing managed tasks of at most 500 resources. `key`: as in `WantedTask`. */
  of(
    resources: readonly string[],
  ): Promise<
    readonly { readonly resource: string; readonly key: string; readonly type: string; readonly taskId: string }[]
  >
  /** Returns why tasks with these settings can never start for any resource; undefined if they can. */
  check?(wanted: Pick<WantedTask, 'templateName' | 'settings'>): Promise<UnstartableTask | undefined>
  /** Creates and starts a missing task. Rejects if the template is unusable. */
  make(wanted: WantedTask): Promise<void>
  remove(taskId: string): Promise<void>
  /** Rebinds tasks whose nodes use references in the metadata of the resource. */
  rebind?(resource: string): Promise<void>
}

/** Port to the rules service for commands. Runs an actuator once. */
export interface ActuatorCall {
  run(call: {
    readonly name: string
    /** an exact version, or `latest` */
    readonly version: string
    readonly properties: Readonly<Record<string, Json>>
    readonly resource: string
    readonly hops: number
    /** if there are hops: id of the first input that led to the command */
    readonly root?: string
    /** id of the command, the same after a crash */
    readonly id: string
    /** rights of who stored the command; absent: all rights */
    readonly rights?: Rights
  }): Promise<{
    readonly version: string
    readonly success: boolean
    readonly message?: string
    readonly rawData?: Json
  }>
}

/**
 * Deletes other data along with a resource on request (`cascade`). Runs before the resource is deleted, so that it can
 * be repeated.
 */
export interface Cascades {
  readonly alarms?: (resource: string) => Promise<void>
  readonly measurements?: (resource: string) => Promise<void>
  readonly tasks?: (resource: string) => Promise<void>
}
