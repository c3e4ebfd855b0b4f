/**
 * Opens storage in a data folder: state.db for documents and logs, series.db for samples and messages.
 * Commits of state.db are synced before they are confirmed; what a power cut undoes of series.db is still in the log.
 */
import { join } from 'node:path'
import type { AppError, Logger } from '#kernel'
import type { BlobMedium } from '../blob-medium.ts'
import type { Storage } from '../contract.ts'
import { CountMemory } from './count-memory.ts'
import { openReader } from './database.ts'
import { DamageWatch } from '../damage.ts'
import { Declarations, type StateCommits } from './declarations.ts'
import { lockFolder } from './folder-lock.ts'
import { GroupCommit } from './group-commit.ts'
import type { SeriesCommits } from './series.ts'
import { ReaderPool, Thread } from './reader-pool.ts'
import { packSeriesJobs, type SeriesAnswer, type SeriesOperation } from './series-jobs.ts'
import type { SeriesWriterData } from './series-writer.ts'
import { SqliteStorage } from './sqlite-storage.ts'
import { StateCommit } from './state-commit.ts'
import type { StateAnswer, StateJob } from './state-jobs.ts'
import { writeError } from './failure.ts'
import { packJobs, unpackAnswers, type StateAnswers, type StateWire } from './state-wire.ts'
import { Specs } from '../spec.ts'
import type { StateWriterData } from './state-writer.ts'
import { threadEntries } from './thread-entries.ts'

export interface SqliteOptions {
  /** created if needed; only one store may use the folder at a time */
  readonly folder: string
  /** medium for objects; closed together with the store */
  readonly blobs: BlobMedium
  /** epoch ms, for expiry; default: the machine's clock */
  readonly clock?: () => number
  readonly logger?: Logger
  /** watch that counts damage; default: a new one */
  readonly damage?: DamageWatch
  /** maximum number of threads for long reads, started on demand; default 2 */
  readonly readers?: number
  /** number of samples in order of arrival that starts a fold; default 50,000 */
  readonly foldAt?: number
  /** least number of samples in a full chunk; default 1,024 */
  readonly chunk?: number
  /** messages kept in order of arrival before the oldest become rows; default 32,768 */
  readonly waiting?: number
}

/** Rejects with `STORE` when it is not accessible, in use, or of another version or program. */
export async function openSqlite(options: SqliteOptions): Promise<Storage> {
  const { folder, blobs, clock = Date.now, logger, damage = new DamageWatch(logger), readers: most = 2 } = options
  const { foldAt = 50_000, chunk = 1_024, waiting = 32_768 } = options
  const trouble = (error: AppError): void => {
    if (error.code === 'DAMAGED') damage.note(error)
    else logger?.warn(error.message, { folder })
  }
  const noted = <Answer extends StateAnswer | SeriesAnswer>(answers: readonly Answer[]): readonly Answer[] => {
    for (const one of answers) if (typeof one === 'object' && 'failure' in one) damage.note(writeError(one))
    return answers
  }
  const state = join(folder, 'state.db')
  const series = join(folder, 'series.db')
  const unlock = lockFolder(folder)
  const threads: { close(): Promise<void> }[] = []
  try {
    const seriesData: SeriesWriterData = { file: series, foldAt, chunk, waiting }
    const starting = [
      Thread.start<StateWire, StateAnswers>(
        threadEntries.stateWriter,
        { file: state } satisfies StateWriterData,
        trouble,
      ),
      Thread.start<readonly SeriesOperation[], readonly SeriesAnswer[]>(
        threadEntries.seriesWriter,
        seriesData,
        trouble,
      ),
    ] as const
    for (const one of await Promise.allSettled(starting)) if (one.status === 'fulfilled') threads.push(one.value)
    const [stateWriter, seriesWriter] = await Promise.all(starting)
    const packed = (jobs: readonly StateJob[]) => ({ wire: packJobs(jobs), transfer: [] })
    const stateCommits: StateCommits = new GroupCommit(stateWriter, packed, (answers) => noted(unpackAnswers(answers)))
    const seriesCommits: SeriesCommits = new GroupCommit(seriesWriter, packSeriesJobs, noted<SeriesAnswer>)
    const readers = new ReaderPool({ state, series }, most, damage, trouble)
    const specs = new Specs()
    const declarations = new Declarations(stateCommits, readers)
    const counts = new CountMemory()
    const stateCommit = new StateCommit(stateCommits, declarations, specs, counts)
    const gets = openReader(state, 32)
    return new SqliteStorage({
      specs,
      counts,
      declarations,
      gets,
      readers,
      stateCommits,
      seriesCommits,
      stateCommit,
      blobs,
      damage,
      clock,
      threads,
      unlock,
    })
  } catch (error) {
    await Promise.all(threads.map((thread) => thread.close()))
    unlock()
    throw error
  }
}
