/**
 * Storage for all services: documents (`Collection`), samples and messages by time (`Series`), the durable order of
 * inputs (`Log`), objects by path (`Blobs`), and units of work over documents and logs that commit as a whole.
 *
 * Not in here: SQL, joins, media, access across tenants, and the meaning of documents.
 *
 * A store belongs to one tenant. Calls resolve when their effect is durable (of series: with `synced`). Documents and
 * bodies are plain JSON, copied on the way in and out. Every list is bounded.
 *
 * STORE-1 a commit applies all of its writes or none, and readers see all of them or none
 * STORE-2 a version is never used twice for an id, not even after a delete: a writer that expects it never overwrites
 *   another's work
 * STORE-3 positions of a log partition are 1, 2, 3 ... without gaps, in the order of commits
 * STORE-4 answered writes survive `kill -9`
 * STORE-5 a reader sees its own writes as soon as they are answered
 * STORE-6 commits of one store take effect, and are then answered, in the order of their calls; a rejection for the
 *   content of writes may come earlier
 * STORE-7 all processes that share a medium use one clock
 */
import type { Json, JsonText } from '#kernel'
import type { Blobs } from './blobs.ts'
import type { Series } from './series.ts'

export type { Blobs } from './blobs.ts'
export type {
  Bucket,
  NewMessage,
  RangeQuery,
  Sample,
  SampleColumns,
  SampleValue,
  Series,
  StoredMessage,
} from './series.ts'

/** An open medium. One process may open two of them. */
export interface Storage {
  /** The store of one tenant: 1 to 64 characters of `a-z A-Z 0-9 . _ -`, otherwise `VALIDATION`. */
  tenant(id: string): Store
  /** Tenants with data, by name. */
  tenants(): Promise<readonly string[]>
  /**
   * Resolves when all writes are durable and resources are released. Idempotent; later calls are rejected with
   * `CLOSED`.
   */
  close(): Promise<void>
  stats(): StorageStats
  /** of a medium that several processes may share, and that detects when one of them ends */
  readonly presence?: Presence | undefined
  /**
   * Sends a notification to all processes that share the medium, this one too (`Presence`). Short, without line breaks.
   */
  tell?(word: string): Promise<void>
}

/**
 * Names of processes while they run, and their notifications. Best effort: a medium may detect the end of a process
 * late or too early, and notifications may be lost.
 */
export interface Presence {
  /** Claims the name until the storage is closed or the medium loses the process. */
  announce(name: string): Promise<void>
  /** The names that are claimed. Undefined when all may have been lost, because the medium was away a moment ago. */
  among(names: readonly string[]): Promise<ReadonlySet<string> | undefined>
  /** Resolves when the medium detects that the name is free, or the signal aborts. Rejects when it cannot tell. */
  gone(name: string, calledOff: AbortSignal): Promise<void>
  /** Called with every notification, and with undefined when some may have been lost. Must not wait. */
  hear(heard: (word: string | undefined) => void): void
  /** ms within which notifications may be undelivered; infinite without a connection */
  readonly deafFor: number
}

export interface StorageStats {
  /** writes that wait for a commit */
  readonly queued: number
  readonly commits: number
  /** ms of the last commit, from submission to durable */
  readonly lastCommitMs: number
}

export interface Store {
  /** The same name must always come with the same specification. */
  collection<D extends Document>(spec: CollectionSpec<D>): Collection<D>
  log(name: string): Log
  readonly series: Series
  readonly blobs: Blobs
  /**
   * Commits documents and log entries as a whole (STORE-1). Rejects with `CONFLICT` when a version is not the expected
   * one; the error's issues name each such write by its index. Commits of one turn of the event loop share one
   * transaction; each still succeeds or fails alone.
   */
  commit(writes: readonly Write[]): Promise<Committed>
  /** The time by the clock of the medium (STORE-7), for leases. */
  now(): Promise<StoreTime>
}

export interface StoreTime {
  /** epoch ms, whole */
  readonly ms: number
  /**
   * identifies this opening of a medium that one process owns, so that leases of an earlier session are void; absent on
   * shared media
   */
  readonly session?: string
}

/** Plain JSON; members that are `undefined` are left out. */
export type Document = object

/** A collection's name and searchable fields, which are read when a document is written. */
export interface CollectionSpec<D extends Document> {
  /** lower-case letters, digits and `_`, at most 40 */
  readonly name: string
  /** raise it when `fields` change: fields of stored documents are then read again */
  readonly version: number
  readonly fields: { readonly [field: string]: Field<D> }
  /**
   * lists of 2 to 4 text and number fields that queries combine: with `eq` on the first ones, one index finds, counts
   * and orders by the next. Only affects speed.
   */
  readonly together?: readonly (readonly string[])[]
}

/** A searchable field, and how to read it from a document; `undefined` or an empty list: absent. */
export type Field<D extends Document> =
  | {
      readonly type: 'text'
      readonly of: (document: D) => string | undefined
      /** long, and searched with `contains` only: without an index. Only affects speed */
      readonly only?: 'contains'
    }
  | { readonly type: 'number'; readonly of: (document: D) => number | undefined }
  /** several texts, such as tags; `eq` and `in` match any of them */
  | { readonly type: 'texts'; readonly of: (document: D) => readonly string[] }
  /** degrees; searched with `box` */
  | { readonly type: 'place'; readonly of: (document: D) => { readonly lat: number; readonly lng: number } | undefined }

export interface Stored<D extends Document> {
  readonly id: string
  /** number of writes of this id */
  readonly version: number
  readonly value: D
}

export interface Collection<D extends Document> {
  readonly spec: CollectionSpec<D>
  get(id: string): Promise<Stored<D> | undefined>
  /** Existing ones, in the order of `ids`; at most 1,000. */
  getMany(ids: readonly string[]): Promise<readonly Stored<D>[]>
  find(query: Query): Promise<readonly Stored<D>[]>
  ids(query: Query): Promise<readonly string[]>
  count(where?: readonly Condition[]): Promise<number>
  /** Number of documents per value of a text field. */
  countBy(field: string, where?: readonly Condition[]): Promise<ReadonlyMap<string, number>>
  /** Writes one document; `expect` as in `Write`. Returns the new version. */
  put(id: string, value: D, expect?: Expectation): Promise<number>
  /** Returns whether it existed. */
  delete(id: string, expect?: Expectation): Promise<boolean>
  /** Writes as data, for units of work. */
  putting(id: string, value: D, expect?: Expectation): Write
  deleting(id: string, expect?: Expectation): Write
  /** Writes nothing: the unit commits only if the document has this version, as a fence does (`fenceStore`). */
  expecting(id: string, version: number): Write
}

/** The current version: a number, `'absent'`, or `'any'` (the default). */
export type Expectation = number | 'absent' | 'any'

export interface Query {
  /** combined by AND */
  readonly where?: readonly Condition[]
  /** ties by id, ascending; default: by id. Documents without the field come last in either direction */
  readonly sort?: readonly { readonly field: string; readonly descending?: boolean }[]
  readonly offset?: number
  /** 0 to 10,000; default 1,000 */
  readonly limit?: number
  /** only ids after this one, without `sort` */
  readonly afterId?: string
}

/** `field` is a declared one or `id`. Throws `VALIDATION` for unknown fields, and operators of another type. */
export type Condition =
  | { readonly field: string; readonly op: 'eq' | 'ne'; readonly value: string | number }
  | { readonly field: string; readonly op: 'in'; readonly values: readonly (string | number)[] }
  | { readonly field: string; readonly op: 'gt' | 'gte' | 'lt' | 'lte'; readonly value: string | number }
  | { readonly field: string; readonly op: 'exists'; readonly value: boolean }
  /** a substring, by Unicode lower case */
  | { readonly field: string; readonly op: 'contains'; readonly value: string }
  | { readonly field: string; readonly op: 'startsWith'; readonly value: string }
  /** `*` matches any text; case-sensitive */
  | { readonly field: string; readonly op: 'like'; readonly pattern: string }
  /** edges included; `west > east` crosses the date line */
  | {
      readonly field: string
      readonly op: 'box'
      readonly south: number
      readonly west: number
      readonly north: number
      readonly east: number
    }
  /** OR over lists combined by AND; at most two levels deep */
  | { readonly any: readonly (readonly Condition[])[] }

/** Part of a unit of work, from `Collection.putting`, `deleting` and `expecting`, and `Log.appending`. */
export type Write =
  | {
      readonly kind: 'put'
      readonly collection: CollectionSpec<never>
      readonly id: string
      readonly value: Document
      readonly expect: Expectation
    }
  | {
      readonly kind: 'delete'
      readonly collection: CollectionSpec<never>
      readonly id: string
      readonly expect: Expectation
    }
  | {
      readonly kind: 'expect'
      readonly collection: CollectionSpec<never>
      readonly id: string
      readonly expect: number
    }
  | { readonly kind: 'append'; readonly log: string; readonly partition: number; readonly bodies: readonly LogBody[] }

export interface Committed {
  /**
   * by index of the write: the new or expected version, the last position of an append, 1 or 0 for a delete with or
   * without effect
   */
  readonly results: readonly number[]
}

/** The durable order of inputs, in numbered partitions. */
export interface Log {
  readonly name: string
  /** Returns the position of the last. */
  append(partition: number, bodies: readonly LogBody[]): Promise<number>
  appending(partition: number, bodies: readonly LogBody[]): Write
  /** Entries after a position, oldest first, at most `limit` (1 to 10,000, default 1,000). */
  read(partition: number, after: number, limit?: number): Promise<readonly LogEntry[]>
  /** First and last position; `{ first: n + 1, last: n }` when empty. */
  bounds(partition: number): Promise<{ readonly first: number; readonly last: number }>
  partitions(): Promise<readonly number[]>
  /** Deletes entries up to and including a position. Positions are never used again (STORE-3). */
  trim(partition: number, upTo: number): Promise<void>
}

/** Read back, it is JSON. */
export type LogBody = Json | JsonText

export interface LogEntry {
  readonly position: number
  readonly body: Json
}
