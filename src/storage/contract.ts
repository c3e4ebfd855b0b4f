/**
 * What every service asks of storage: documents (`Collection`), samples and messages by time (`Series`), the durable
 * order of inputs (`Log`), objects by path (`Blobs`), and units of work over documents and logs that commit whole.
 *
 * Not in here: SQL, joins, media, tenants crossing each other, and any knowledge of what a document means.
 *
 * A store belongs to one tenant; ids of two tenants never meet. Nothing is answered before it is durable (of series: `synced`). Documents
 * and bodies are plain JSON, copied on the way in and on the way out. Every list has a bound.
 *
 * STORE-1 a commit applies all of its writes or none, and readers see all of them or none
 * STORE-2 a version is never used twice for an id, not even after a delete: a writer that expects it never overwrites
 *   another's work
 * STORE-3 positions of a log partition are 1, 2, 3 ... without gaps, in the order of commits
 * STORE-4 what was answered is there after `kill -9`
 * STORE-5 a reader sees its own writes as soon as they are answered
 * STORE-6 commits of one store take effect, and are then answered, in the order in which this process asked for them;
 *   one that is refused for what its writes say may be told so earlier
 * STORE-7 all who share a medium are told the time by one clock
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

/** One medium, opened. Two of them may be open in one process. */
export interface Storage {
  /** The store of one tenant: 1 to 64 characters of `a-z A-Z 0-9 . _ -`, else `VALIDATION`. */
  tenant(id: string): Store
  /** Tenants that have stored something, by name. */
  tenants(): Promise<readonly string[]>
  /** What was written so far is durable and everything is let go. Safe to call twice; later calls are refused with `CLOSED`. */
  close(): Promise<void>
  /** Live figures for /metrics. */
  stats(): StorageStats
  /** Of a medium that several processes may share, and that notices when one of them ends. */
  readonly presence?: Presence | undefined
  /** Of a medium that several processes may share: whoever hears (`Presence`) hears the word, this process too. Short, without line breaks. */
  tell?(word: string): Promise<void>
}

/**
 * Names that processes have for as long as they are there, and words that they tell each other. For speed alone: a
 * medium may miss that one is gone, or think so too early, and a word may be lost.
 */
export interface Presence {
  /** From here on this process has the name, until it closes the storage or the medium hears nothing of it any more. */
  announce(name: string): Promise<void>
  /** Which of the names somebody has. Undefined when everybody may have lost them: the medium was away a moment ago. */
  among(names: readonly string[]): Promise<ReadonlySet<string> | undefined>
  /** Resolves as soon as the medium notices that nobody has the name, or when it is called off. Rejects when it cannot say. */
  gone(name: string, calledOff: AbortSignal): Promise<void>
  /** Told is every word of `Storage.tell`, and undefined when some may have been lost. Must not wait. */
  hear(heard: (word: string | undefined) => void): void
  /** ms for which words may have been told that were not heard yet; infinite when none would be heard */
  readonly deafFor: number
}

export interface StorageStats {
  /** writes that wait for a commit */
  readonly queued: number
  readonly commits: number
  /** ms that the last commit took, from hand-over to durable */
  readonly lastCommitMs: number
}

/** Everything of one tenant. */
export interface Store {
  /** The collection of a specification; the same name must always come with the same specification. */
  collection<D extends Document>(spec: CollectionSpec<D>): Collection<D>
  log(name: string): Log
  readonly series: Series
  readonly blobs: Blobs
  /**
   * Commits documents and log entries whole (STORE-1). Rejects with `CONFLICT` when a version is not the expected one;
   * then nothing was written, and the error's issues name each such write by its place.
   * Commits of one turn of the event loop share one transaction of the medium; each still succeeds or fails alone.
   */
  commit(writes: readonly Write[]): Promise<Committed>
  /** The time by the clock of the medium (STORE-7): leases go by it, which another process may take once they are over. */
  now(): Promise<StoreTime>
}

export interface StoreTime {
  /** epoch ms, whole */
  readonly ms: number
  /**
   * Of a medium that one process has to itself: another text at each opening, so that nobody holds what was leased in
   * an earlier session. Absent where several processes may share the medium.
   */
  readonly session?: string
}

/** Plain JSON: no functions, dates or cycles; members that are `undefined` are left out. */
export type Document = object

/** A collection's name and what can be searched in it. Fields are read when a document is written. */
export interface CollectionSpec<D extends Document> {
  /** lower-case letters, digits and `_`, at most 40 */
  readonly name: string
  /** raise it when `fields` change: documents are then read again when the store is opened */
  readonly version: number
  readonly fields: { readonly [field: string]: Field<D> }
  /**
   * Lists of 2 to 4 text and number fields that are asked about together: documents with `eq` on the first ones are
   * then found, counted and ordered by the next one without a look at others. For speed alone: answers are the same.
   */
  readonly together?: readonly (readonly string[])[]
}

/** What can be asked about a field, and how it is read off a document; `undefined` or an empty list: not there. */
export type Field<D extends Document> =
  | {
      readonly type: 'text'
      readonly of: (document: D) => string | undefined
      /** long, and looked through with `contains` alone: no index is kept of it. For speed alone, as `together` */
      readonly only?: 'contains'
    }
  | { readonly type: 'number'; readonly of: (document: D) => number | undefined }
  /** several texts, such as tags; asked with `eq` and `in`, one that matches is enough */
  | { readonly type: 'texts'; readonly of: (document: D) => readonly string[] }
  /** a place, asked with `box`; degrees */
  | { readonly type: 'place'; readonly of: (document: D) => { readonly lat: number; readonly lng: number } | undefined }

export interface Stored<D extends Document> {
  readonly id: string
  /** counts the writes of this id, from 1 */
  readonly version: number
  readonly value: D
}

export interface Collection<D extends Document> {
  readonly spec: CollectionSpec<D>
  get(id: string): Promise<Stored<D> | undefined>
  /** Those that exist, in the order asked; at most 1,000 ids. */
  getMany(ids: readonly string[]): Promise<readonly Stored<D>[]>
  find(query: Query): Promise<readonly Stored<D>[]>
  /** As `find`, ids only. */
  ids(query: Query): Promise<readonly string[]>
  count(where?: readonly Condition[]): Promise<number>
  /** How many there are of each value of a text field. */
  countBy(field: string, where?: readonly Condition[]): Promise<ReadonlyMap<string, number>>
  /** One write alone; `expect` as in `Write`. Gives the new version. */
  put(id: string, value: D, expect?: Expectation): Promise<number>
  /** True when there was one. */
  delete(id: string, expect?: Expectation): Promise<boolean>
  /** The same as data, for a unit of work. */
  putting(id: string, value: D, expect?: Expectation): Write
  deleting(id: string, expect?: Expectation): Write
  /**
   * Writes nothing: the unit is committed only if the document is there in this version at the moment of its commit.
   * What decides who may write can so stand in a document of its own (`fenceStore`).
   */
  expecting(id: string, version: number): Write
}

/** The version that must be there: a number, `'absent'`, or `'any'` (the default). */
export type Expectation = number | 'absent' | 'any'

export interface Query {
  /** all must hold */
  readonly where?: readonly Condition[]
  /** ties go by id, ascending; default: by id. Documents without the field come last in either direction */
  readonly sort?: readonly { readonly field: string; readonly descending?: boolean }[]
  readonly offset?: number
  /** 0 to 10,000; default 1,000 */
  readonly limit?: number
  /** only ids after this one; for walking a whole collection, without `sort` */
  readonly afterId?: string
}

/** `field` is a declared one or `id`. Unknown fields and operators that do not fit the type are `VALIDATION`. */
export type Condition =
  | { readonly field: string; readonly op: 'eq' | 'ne'; readonly value: string | number }
  | { readonly field: string; readonly op: 'in'; readonly values: readonly (string | number)[] }
  | { readonly field: string; readonly op: 'gt' | 'gte' | 'lt' | 'lte'; readonly value: string | number }
  | { readonly field: string; readonly op: 'exists'; readonly value: boolean }
  /** text somewhere inside, by Unicode lower case */
  | { readonly field: string; readonly op: 'contains'; readonly value: string }
  | { readonly field: string; readonly op: 'startsWith'; readonly value: string }
  /** `*` is any text, everything else is itself; case counts */
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
  /** one of these lists holds; at most two levels deep */
  | { readonly any: readonly (readonly Condition[])[] }

/** Part of a unit of work: made by `Collection.putting`, `deleting` and `expecting`, and by `Log.appending`. */
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
  /** by place of the write: a put's new version, the version that was expected, an append's last position, 1 or 0 for a delete that found one or none */
  readonly results: readonly number[]
}

/** The durable order of inputs, in numbered partitions. */
export interface Log {
  readonly name: string
  /** Gives the position of the last. */
  append(partition: number, bodies: readonly LogBody[]): Promise<number>
  appending(partition: number, bodies: readonly LogBody[]): Write
  /** Entries after a position, oldest first, at most `limit` (1 to 10,000, default 1,000). */
  read(partition: number, after: number, limit?: number): Promise<readonly LogEntry[]>
  /** First and last position that are kept; `{ first: n + 1, last: n }` when none is. */
  bounds(partition: number): Promise<{ readonly first: number; readonly last: number }>
  partitions(): Promise<readonly number[]>
  /** Forgets entries up to and with a position. Positions are never used again (STORE-3). */
  trim(partition: number, upTo: number): Promise<void>
}

/** The body of an entry on its way in; read back it is JSON. */
export type LogBody = Json | JsonText

export interface LogEntry {
  readonly position: number
  readonly body: Json
}
