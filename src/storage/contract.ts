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
 * STORE-3 positions of a log are 1, 2, 3 ... without gaps, in the order of commits
 * STORE-4 confirmed writes survive `kill -9`
 * STORE-5 a reader sees its own writes as soon as they are confirmed
 * STORE-6 commits of one store take effect, and are then confirmed, in the order of their calls; a rejection for the
 *   content of writes may come earlier
 * STORE-7 all processes that share a medium use one clock
 */
import type { Actor, Json, JsonText } from '#kernel'
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
  SeriesName,
  StoredMessage,
} from './series.ts'

/** An open medium. One process may open several media. */
export interface Storage {
  /**
   * Returns the store of a tenant. Its name is 1 to 64 characters of `a-z A-Z 0-9 . _ -`; otherwise throws
   * `VALIDATION`.
   */
  tenant(id: string): Store
  /** Returns the names of tenants that have data, in order. */
  tenants(): Promise<readonly string[]>
  /**
   * Resolves when all writes are durable and resources are released. Idempotent; later calls are rejected with
   * `CLOSED`.
   */
  close(): Promise<void>
  stats(): StorageStats
  /** present when several processes may share the medium and it detects that one of them has ended */
  readonly presence?: Presence | undefined
  /**
   * Sends a notification to all processes that share the medium, including this one (`Presence`). The text must be
   * short and without line breaks.
   */
  notify?(word: string): Promise<void>
}

/**
 * Names of running processes, and notifications between them. Best effort: a medium may detect the end of a process
 * late or too early, and notifications may be lost.
 */
export interface Presence {
  /** Claims the name until the storage is closed, or the medium considers this process ended. */
  announce(name: string): Promise<void>
  /**
   * Returns which of the names are claimed. Undefined when the medium was unavailable a moment ago, so that claims may
   * be lost.
   */
  among(names: readonly string[]): Promise<ReadonlySet<string> | undefined>
  /**
   * Resolves when the medium detects that the name is free, or the signal aborts. Rejects when it cannot detect this.
   */
  gone(name: string, calledOff: AbortSignal): Promise<void>
  /**
   * Calls `listener` with every notification, and with undefined when notifications may have been lost. `listener` must
   * return at once.
   */
  onNotification(listener: (word: string | undefined) => void): void
  /** notifications of this many last ms may not have arrived yet; infinite without a connection */
  readonly notificationLag: number
}

export interface StorageStats {
  /** number of writes waiting for a commit */
  readonly queued: number
  readonly commits: number
  /** duration of the last commit in ms, from submission until durable */
  readonly lastCommitMs: number
}

export interface Store {
  /** Returns a collection. Always pass the same specification for the same name. */
  collection<D extends Document>(spec: CollectionSpec<D>): Collection<D>
  log(name: string): Log
  readonly series: Series
  readonly blobs: Blobs
  /**
   * Commits documents and log entries atomically (STORE-1). Rejects with `CONFLICT` when a version is not the expected
   * one; the error's issues name each such write by its index. Commits of one turn of the event loop share a
   * transaction, but each succeeds or fails on its own.
   */
  commit(writes: readonly Write[]): Promise<Committed>
  /** Runs work whose changes are recorded as those of an actor. Absent: the store records nothing */
  readonly actingAs?: ActingAs | undefined
  /** Returns the time on the clock of the medium (STORE-7), for leases. */
  now(): Promise<StoreTime>
}

export type ActingAs = <T>(actor: Actor | undefined, work: () => Promise<T>) => Promise<T>

export interface StoreTime {
  /** epoch ms, an integer */
  readonly ms: number
  /**
   * id of this opening of a medium that only one process uses at a time, so that leases of earlier sessions are void;
   * absent on shared media
   */
  readonly session?: string
}

/** A document in plain JSON; `undefined` members are omitted. */
export type Document = object

/** Name of a collection, and its searchable fields, which are computed when a document is written. */
export interface CollectionSpec<D extends Document> {
  /** lower-case letters, digits and `_`; at most 40 characters */
  readonly name: string
  /** increase this when `fields` change, so that the fields of stored documents are computed again */
  readonly version: number
  readonly fields: { readonly [field: string]: Field<D> }
  /**
   * lists of 2 to 4 text and number fields that are queried together: with `eq` on the leading fields, one index finds
   * and counts, and sorts by the next field. Only affects speed.
   */
  readonly together?: readonly (readonly string[])[]
  /** Changes by users are recorded (`auditedStore`) */
  readonly audited?: true
}

/**
 * A searchable field, and how to compute it from a document. `undefined` or an empty list means that the field is
 * absent.
 */
export type Field<D extends Document> =
  | {
      readonly type: 'text'
      readonly of: (document: D) => string | undefined
      /** for long texts that only `contains` searches: no index. Only affects speed */
      readonly only?: 'contains'
    }
  | { readonly type: 'number'; readonly of: (document: D) => number | undefined }
  /** several texts, such as tags; `eq` and `in` match when any of the texts does */
  | { readonly type: 'texts'; readonly of: (document: D) => readonly string[] }
  /** a position in degrees, searched with `box` */
  | { readonly type: 'place'; readonly of: (document: D) => { readonly lat: number; readonly lng: number } | undefined }

export interface Stored<D extends Document> {
  readonly id: string
  /** how often the id has been written */
  readonly version: number
  readonly value: D
}

export interface Collection<D extends Document> {
  readonly spec: CollectionSpec<D>
  get(id: string): Promise<Stored<D> | undefined>
  /** Returns the documents that exist, in the order of `ids`; at most 1,000. */
  getMany(ids: readonly string[]): Promise<readonly Stored<D>[]>
  find(query: Query): Promise<readonly Stored<D>[]>
  ids(query: Query): Promise<readonly string[]>
  count(where?: readonly Condition[]): Promise<number>
  /** Counts documents by the value of a text field. */
  countBy(field: string, where?: readonly Condition[]): Promise<ReadonlyMap<string, number>>
  /** Writes one document and returns its new version. */
  put(id: string, value: D, expect?: ExpectedDocument): Promise<number>
  /** Deletes a document. Returns whether it existed. */
  delete(id: string, expect?: ExpectedDocument): Promise<boolean>
  /** Build writes to be committed as part of a unit of work. */
  putting(id: string, value: D, expect?: ExpectedDocument): Write
  deleting(id: string, expect?: ExpectedDocument): Write
  /**
   * Builds a write without effect: the unit commits only if the document has this version, as for a fence
   * (`fenceStore`).
   */
  expecting(id: string, version: number): Write
}

/** The required current version: a number, `'absent'`, or `'any'` (the default). */
export type Expectation = number | 'absent' | 'any'

/** An expectation, or the current document as it was read, which an audit then compares without another read. */
export type ExpectedDocument = Expectation | Stored<Document>

export interface Query {
  /** conditions that must all hold */
  readonly where?: readonly Condition[]
  /**
   * sort order; equal documents are ordered by ascending id, as is the default. Documents without the field come last
   * in both directions
   */
  readonly sort?: readonly { readonly field: string; readonly descending?: boolean }[]
  readonly offset?: number
  /** 0 to 10,000; default 1,000 */
  readonly limit?: number
  /** only ids after this one; not together with `sort` */
  readonly afterId?: string
}

/**
 * `field` is a declared field or `id`. Throws `VALIDATION` for an unknown field, or an operator that its type does not
 * support.
 */
export type Condition =
  | { readonly field: string; readonly op: 'eq' | 'ne'; readonly value: string | number }
  | { readonly field: string; readonly op: 'in'; readonly values: readonly (string | number)[] }
  | { readonly field: string; readonly op: 'gt' | 'gte' | 'lt' | 'lte'; readonly value: string | number }
  | { readonly field: string; readonly op: 'exists'; readonly value: boolean }
  /** contains a substring, compared in Unicode lower case */
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
  /** at least one list must hold, with all of its conditions; at most two levels deep */
  | { readonly any: readonly (readonly Condition[])[] }

/** One write in a unit of work, built by `Collection.putting`, `deleting` and `expecting`, and `Log.appending`. */
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
  | { readonly kind: 'append'; readonly log: string; readonly bodies: readonly LogBody[] }

export interface Committed {
  /**
   * results by index of the write: the new or expected version, the last position of an append, or for a delete 1 if
   * the document existed, otherwise 0
   */
  readonly results: readonly number[]
}

/** A durable sequence of inputs. */
export interface Log {
  readonly name: string
  /** Appends entries and returns the position of the last one. */
  append(bodies: readonly LogBody[]): Promise<number>
  appending(bodies: readonly LogBody[]): Write
  /** Reads entries after a position, oldest first, at most `limit` (1 to 10,000, default 1,000). */
  read(after: number, limit?: number): Promise<readonly LogEntry[]>
  /** Returns the first and last position; `{ first: n + 1, last: n }` for an empty log. */
  bounds(): Promise<{ readonly first: number; readonly last: number }>
  /** Deletes entries up to and including a position. Positions are never reused (STORE-3). */
  trim(upTo: number): Promise<void>
}

/** Body of an entry; always read back as JSON. */
export type LogBody = Json | JsonText

export interface LogEntry {
  readonly position: number
  readonly body: Json
}
