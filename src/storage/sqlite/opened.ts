/** Holds what the stores of one open data folder share. */
import type { Committed, Write } from '../contract.ts'
import type { Specs } from '../spec.ts'
import type { DamageWatch } from '../damage.ts'
import type { CountMemory } from './count-memory.ts'
import type { Database } from './database.ts'
import type { Declarations } from './declarations.ts'
import type { GroupCommit } from './group-commit.ts'
import type { ReaderPool } from './reader-pool.ts'
import type { SeriesAnswer, SeriesJob, SeriesOperation } from './series-jobs.ts'

export type SeriesCommits = GroupCommit<SeriesJob, readonly SeriesOperation[], SeriesAnswer>

export interface Opened {
  readonly specs: Specs
  readonly declarations: Declarations
  /** connection on this thread, for fast reads by key */
  readonly gets: Database
  readonly readers: ReaderPool
  readonly counts: CountMemory
  readonly damage: DamageWatch
  readonly seriesCommits: SeriesCommits
  /** epoch ms */
  readonly clock: () => number
  refuseWhenClosed(): void
  commit(tenant: string, writes: readonly Write[]): Promise<Committed>
  trim(tenant: string, log: string, partition: number, upTo: number): Promise<void>
}
