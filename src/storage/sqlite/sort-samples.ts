/** Sorts the samples of several blocks by series and time. */
import { CODE, kindOfCode, SAMPLE, seriesOfCode, TEXT, TIME, VALUE, type SampleBlock } from './sample-block.ts'

export interface SortedSamples extends SampleBlock {
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

/** Shifts the indexes of a block's texts, to follow those of earlier blocks. */
function moveTexts(samples: Float64Array, start: number, end: number, others: number): void {
  for (let at = start; at < end; at += SAMPLE) {
    if (kindOfCode(samples[at + CODE] ?? 0) === TEXT) samples[at + VALUE] = (samples[at + VALUE] ?? 0) + others
  }
}
