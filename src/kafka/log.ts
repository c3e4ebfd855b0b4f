/**
 * The port between a worker and Kafka: an input topic that a group of members shares, and transactions over the members'
 * offsets and whatever they produce.
 *
 * TXLOG-1 a transaction has all of its effects or none
 * TXLOG-2 a transaction of a member that no longer owns one of its partitions is rejected
 * TXLOG-3 `committed` waits for open transactions, so that its offset cannot change under a new owner
 */
import type { TopicRole } from './contract.ts'

export interface LogRecord {
  readonly offset: number
  /** epoch ms at which the broker appended the record */
  readonly time: number
  readonly key: string | undefined
  readonly value: string | null
  readonly headers: Readonly<Record<string, string>> | undefined
}

export interface NewRecord {
  readonly topic: TopicRole
  readonly key: string
  readonly value: string | null
  /** default: the partition of the key */
  readonly partition?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** What this member owns; a new generation begins with each change of the group. */
export interface Assignment {
  readonly generation: number
  readonly partitions: readonly number[]
}

export interface Batch {
  readonly partition: number
  readonly records: readonly LogRecord[]
  /** where reading continues, after records that are not visible */
  readonly next: number
  /** offset after the newest record */
  readonly end: number
}

export interface Slice {
  readonly generation: number
  /** by partition: offset after the last record that the slice reflects */
  readonly offsets: ReadonlyMap<number, number>
  readonly records: readonly NewRecord[]
}

export interface TransactionalLog {
  /** number of partitions of the input topic */
  readonly partitions: number
  /** id of the input topic; undefined: unknown */
  readonly topicId: string | undefined
  /** Returns the partition of a key, as Kafka's default partitioner does. */
  partitionOf(key: string): number
  readonly assignment: Assignment
  /** Returns the committed offset of a partition; undefined: none. */
  committed(partition: number): Promise<number | undefined>
  /** Returns the first offset that the broker still has. */
  earliest(partition: number): Promise<number>
  /** Reads committed records from the given offsets, by partition. Waits up to `waitMs` for the first. */
  fetch(positions: ReadonlyMap<number, number>, waitMs: number): Promise<readonly Batch[]>
  /** Rejects when nothing was written, or when that is unknown: read `committed` again. */
  transact(slice: Slice): Promise<void>
  /** Reads the newest value of each key of a partition of `state`, tombstones left out. */
  states(partition: number): Promise<ReadonlyMap<string, string>>
  /** Reads `rules` from an offset to its end. */
  rules(from: number): Promise<Pick<Batch, 'records' | 'next'>>
  /** Appends outside of transactions. */
  append(records: readonly NewRecord[]): Promise<void>
  /** Partitions whose states should be at hand, because this member may own them next. */
  follow?(): void
  close(): Promise<void>
}
