/**
 * Resources, their types and constraints as others see them. The same over HTTP and over
 * fetch (`client.ts`). Whatever comes from outside is read by the service itself: a body may be any JSON.
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

/** The service as callers reach it. */
export interface ResourcesService {
  as(caller: Caller): ResourcesApi & {
    /** Metadata events, in order, from now on. */
    changes(options?: Omit<ReaderOptions, 'topic'>): FeedReader<MetadataEvent>
  }
}

/** The service inside the host: what its neighbours and the host call. */
export interface InternalResources extends ResourcesService {
  /** Goes on with bulk operations and with the managed tasks. */
  start(closing?: AbortSignal): Promise<void>
  stop(): Promise<void>
  gauges(): ResourcesGauges
  /**
   * The resource with inherited values, from memory when it is there: for the engine, which wants a value and no promise.
   * Undefined when there is none.
   */
  lookup(id: string): ResourceEntity | undefined | Promise<ResourceEntity | undefined>
  /** What a patch of any resource would refuse, whatever else it has. At once, from the body alone. */
  checkPatch(body: unknown): readonly Issue[]
  /**
   * Resources that sent something: makes those that do not exist, and remembers when each was heard last. Undefined at
   * once when all are known. Rejects only when the store does.
   */
  discover(seen: readonly SeenResource[]): Promise<void> | undefined
}

export interface SeenResource {
  readonly resource: string
  /** epoch ms */
  readonly time: number
  /** what it was seen in */
  readonly message: Json
}

export interface ResourcesGauges {
  readonly openOperations: number
  /** resources whose managed tasks are not yet as they should be */
  readonly upkeepWaiting: number
  readonly eventStreams: number
}

export type ResourceEntity = Readonly<Record<string, Json>> & { readonly id: string }

/** Of the event stream, and what adapters follow. */
export interface MetadataEvent {
  readonly type: 'create' | 'update' | 'delete' | 'discovered'
  readonly objectType: 'resource' | 'resourcetype'
  /** epoch ms */
  readonly timestamp: number
  readonly resource?: ResourceEntity
  readonly resourcetype?: ResourceEntity
  /** of an update: the changed attributes as they were; `null` for one that was not there */
  readonly oldValues?: Readonly<Record<string, Json>>
  /** of `discovered` */
  readonly message?: Json
  /** of `delete`: what was deleted with it */
  readonly cascadeDelete?: readonly string[]
}

export interface ResourcesApi {
  readonly resources: ResourceApi
  readonly types: TypeApi
  readonly constraints: ConstraintApi
  readonly operations: OperationApi
}

/** A write that counts only on the version that the writer saw; the ETag over HTTP. */
export interface WriteOptions {
  readonly ifVersion?: ExpectedVersion
}

/** Of a change that a rule makes: the same effect again changes nothing, and one that comes late is `SUPERSEDED`. */
export interface PatchOptions extends WriteOptions {
  readonly cause?: EffectOfTask
}

/** What is stored, with the version that it has now. */
export interface Versioned<T> {
  readonly value: T
  readonly version: number
}

export interface ShowOptions {
  /** default true: with inherited values */
  readonly denormalized?: boolean
}

export interface ResourceApi {
  create(body: unknown): Promise<Versioned<ResourceEntity>>
  /** Also makes it when it is not there. */
  replace(id: string, body: unknown, options?: WriteOptions): Promise<Versioned<ResourceEntity>>
  patch(id: string, body: unknown, options?: PatchOptions): Promise<Versioned<ResourceEntity>>
  remove(id: string, options?: WriteOptions & { readonly cascade?: readonly Cascade[] }): Promise<void>
  get(id: string, options?: ShowOptions): Promise<Versioned<ResourceEntity>>
  /** `query`: the parameters of the listing as they came (reference of `GET /api/resources`) */
  list(query: ListQuery): Promise<Page<ResourceEntity>>
  children(id: string, query: ListQuery): Promise<Page<ResourceEntity>>
  referrers(id: string, query: ListQuery): Promise<Page<ResourceEntity>>
  changes(id: string, query: ListQuery): Promise<Page<ChangeRecord>>
  commands(id: string, query: ListQuery): Promise<Page<Readonly<Record<string, Json>>>>
  /** For every attribute its value and where it comes from. */
  explain(id: string): Promise<readonly AttributeOrigin[]>
}

/** Parameters by name; those that repeat are arrays. */
export type ListQuery = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export interface ChangeRecord {
  /** ISO 8601 */
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
  /** `created`: it was not there. */
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
  /** The constraint as JSON Schema. */
  schema(id: string): Promise<unknown>
  list(query: ListQuery): Promise<Page<ResourceEntity>>
}

/** `POST /api/batch` for `resource` and `resourcetype`. */
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

/** A task that a type's template wants for a resource. */
export interface WantedTask {
  readonly resource: string
  readonly type: string
  /** tells the entries of a type's templates apart, and changes with their settings: two with the same key are the same */
  readonly key: string
  readonly templateName: string
  /** task settings of the entry: `type`, `frequency`, `cron` ... */
  readonly settings: Readonly<Record<string, Json>>
}

export interface UnstartableTask {
  /** the setting that is wrong or missing */
  readonly setting: string
  readonly message: string
  readonly suggestion?: string
}

/** What the resources ask of the rules: tasks that come and go with resources. Each call may be repeated after a crash. */
export interface ManagedTasks {
  /** The managed tasks that there are of these resources, at most 500 of them; `key` is that of `WantedTask`. */
  of(
    resources: readonly string[],
  ): Promise<
    readonly { readonly resource: string; readonly key: string; readonly type: string; readonly taskId: string }[]
  >
  /** Why a task of these settings can never start, whatever its resource; undefined when it may. */
  check?(wanted: Pick<WantedTask, 'templateName' | 'settings'>): Promise<UnstartableTask | undefined>
  /** Makes and starts one that is not there: whoever asks has looked. Rejects when the template cannot be used. */
  make(wanted: WantedTask): Promise<void>
  /** Stops and deletes it; one that is gone is no error. */
  remove(taskId: string): Promise<void>
  /** References in the metadata of the resource changed: all tasks whose nodes are bound by them follow. */
  rebind?(resource: string): Promise<void>
}

/** What running a command needs of the rules: one actuator, once. */
export interface ActuatorCall {
  run(call: {
    readonly name: string
    /** exact, or `latest` */
    readonly version: string
    readonly properties: Readonly<Record<string, Json>>
    readonly resource: string
    readonly hops: number
    /** with hops: what everything that came of one arrival is known by */
    readonly root?: string
    /** the same for the same command, also after a crash */
    readonly id: string
  }): Promise<{
    readonly version: string
    readonly success: boolean
    readonly message?: string
    readonly rawData?: Json
  }>
}

/** What is deleted with a resource when it is asked for (`cascade`). Before the resource itself, so that it can be repeated. */
export interface Cascades {
  readonly alarms?: (resource: string) => Promise<void>
  readonly measurements?: (resource: string) => Promise<void>
  readonly tasks?: (resource: string) => Promise<void>
}
