/**
 * Folds samples from the order of arrival into chunks, in slices between batches.
 * Originals are deleted at the end and win until then, so readers notice nothing, and a crash restarts the fold.
 */
import type { ChunkCompactor } from './chunk-compactor.ts'
import { type Columns, ColumnsBuilder } from './columns.ts'
import type { Database } from './database.ts'
import {
  CODE,
  EXPIRES,
  kindOfCode,
  SAMPLE,
  type SampleBlock,
  seriesOfCode,
  storedBlocks,
  TEXT,
  TIME,
  VALUE,
} from './sample-block.ts'

const SLICE_ROWS = 10_000
/** approximate most samples in a fold, which are kept in memory */
const MAX_SAMPLES = 500_000

interface Fold extends SortedSamples {
  /** the last block that the fold includes */
  readonly upTo: number
  done: number
}

export class SeriesCompactor {
  readonly #db: Database
  readonly #chunks: ChunkCompactor
  #fold: Fold | undefined

  constructor(db: Database, chunks: ChunkCompactor) {
    this.#db = db
    this.#chunks = chunks
  }

  get active(): boolean {
    return this.#fold !== undefined
  }

  /** Processes one slice, beginning a fold if none is in progress. */
  step(): void {
    const fold = this.#fold ?? this.#begin()
    if (fold === undefined) return
    this.#fold = fold
    const until = Math.min(fold.done + SLICE_ROWS, fold.order.length)
    try {
      this.#db.transaction(() => {
        this.#copy(fold, fold.done, until)
        if (until === fold.order.length) this.#forget(fold)
      })
    } catch (error) {
      // the copies will be made again; nothing was deleted
      this.#fold = undefined
      this.#chunks.forget()
      throw error
    }
    fold.done = until
    if (until === fold.order.length) this.#fold = undefined
  }

  all(): void {
    this.#fold = undefined
    for (let fold = this.#begin(); fold !== undefined; fold = this.#begin()) {
      this.#copy(fold, 0, fold.order.length)
      this.#forget(fold)
    }
  }

  /** Begins a fold; returns undefined when all samples are folded. */
  #begin(): Fold | undefined {
    const blocks: SampleBlock[] = []
    let upTo = 0
    let count = 0
    for (const block of storedBlocks(this.#db)) {
      blocks.push(block)
      upTo = block.key
      count += block.samples.length / SAMPLE
      if (count >= MAX_SAMPLES) break
    }
    return blocks.length === 0 ? undefined : { ...sortSamples(blocks), upTo, done: 0 }
  }

  #copy(fold: Fold, from: number, until: number): void {
    this.#chunks.append(seriesWithin(fold, from, until))
  }

  #forget({ upTo }: Fold): void {
    this.#db.run('DELETE FROM arrivals WHERE key <= ?', upTo)
  }
}

function* seriesWithin(fold: Fold, from: number, until: number): Generator<readonly [series: number, Columns]> {
  for (let start = from; start < until;) {
    const series = seriesAt(fold, start)
    let end = start + 1
    while (end < until && seriesAt(fold, end) === series) end += 1
    yield [series, columnsOf(fold, start, end)]
    start = end
  }
}

function seriesAt({ samples, order }: Fold, at: number): number {
  return seriesOfCode(samples[(order[at] ?? 0) * SAMPLE + CODE] ?? 0)
}

function columnsOf({ samples, words, order }: Fold, start: number, end: number): Columns {
  const builder = new ColumnsBuilder(end - start)
  for (let at = start; at < end; at += 1) {
    const offset = (order[at] ?? 0) * SAMPLE
    const kind = kindOfCode(samples[offset + CODE] ?? 0)
    builder.put(samples[offset + TIME] ?? 0, kind, samples[offset + VALUE] ?? 0, words, samples[offset + EXPIRES])
  }
  return builder.columns()
}

/** Sorts the samples of several blocks by series and time. */
interface SortedSamples extends SampleBlock {
  /** indexes of samples, ordered by series and time; of equal times only the last is listed */
  readonly order: Uint32Array
}

/** `blocks`: in order of arrival. */
export function sortSamples(blocks: readonly SampleBlock[]): SortedSamples {
  const { samples, words } = joined(blocks)
  const count = samples.length / SAMPLE
  const order = new Uint32Array(count)
  const ends = endsOf(samples)
  const next = new Map([...ends].map(([series, { start }]) => [series, start]))
  for (let index = 0; index < count; index += 1) {
    const series = seriesOfCode(samples[index * SAMPLE + CODE] ?? 0)
    const at = next.get(series) ?? 0
    order[at] = index
    next.set(series, at + 1)
  }
  let kept = 0
  for (const { start, end } of ends.values()) kept = sortOne(samples, order, start, end, kept)
  return { samples, words, order: order.subarray(0, kept) }
}

function endsOf(samples: Float64Array): ReadonlyMap<number, { readonly start: number; readonly end: number }> {
  const counts = new Map<number, number>()
  for (let at = 0; at < samples.length; at += SAMPLE) {
    const series = seriesOfCode(samples[at + CODE] ?? 0)
    counts.set(series, (counts.get(series) ?? 0) + 1)
  }
  let end = 0
  const bySeries = [...counts].sort(([one], [other]) => one - other)
  return new Map(bySeries.map(([series, count]) => [series, { start: end, end: (end += count) }]))
}

/** Sorts the indexes of one series and moves them to `to`; returns where they end. */
function sortOne(samples: Float64Array, order: Uint32Array, start: number, end: number, to: number): number {
  const timeAt = (at: number): number => samples[(order[at] ?? 0) * SAMPLE + TIME] ?? 0
  let isSorted = true
  for (let at = start + 1; at < end && isSorted; at += 1) isSorted = timeAt(at - 1) <= timeAt(at)
  if (!isSorted) {
    const timeOf = (index: number): number => samples[index * SAMPLE + TIME] ?? 0
    order.subarray(start, end).sort((one, other) => timeOf(one) - timeOf(other) || one - other)
  }
  let kept = to
  for (let at = start; at < end; at += 1) {
    // skipped, since the next sample with the same time is newer
    if (at + 1 < end && timeAt(at) === timeAt(at + 1)) continue
    order[kept] = order[at] ?? 0
    kept += 1
  }
  return kept
}

function joined(blocks: readonly SampleBlock[]): SampleBlock {
  const [only] = blocks
  if (blocks.length === 1 && only !== undefined) return only
  const samples = new Float64Array(blocks.reduce((sum, block) => sum + block.samples.length, 0))
  const words: string[] = []
  let start = 0
  for (const block of blocks) {
    samples.set(block.samples, start)
    const end = start + block.samples.length
    if (words.length > 0 && block.words.length > 0) moveTexts(samples, start, end, words.length)
    for (const word of block.words) words.push(word)
    start = end
  }
  return { samples, words }
}

/** Shifts the indexes of a block's texts behind the texts of earlier blocks. */
function moveTexts(samples: Float64Array, start: number, end: number, others: number): void {
  for (let at = start; at < end; at += SAMPLE) {
    if (kindOfCode(samples[at + CODE] ?? 0) === TEXT) samples[at + VALUE] = (samples[at + VALUE] ?? 0) + others
  }
}
