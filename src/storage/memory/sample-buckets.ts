/** Samples in memory, put together by equal spans of time. */
import type { Bucket, Sample } from '../series.ts'

/** The buckets of samples that are in order and not before `from`. */
export function bucketsOf(samples: readonly Sample[], from: number, width: number): readonly Bucket[] {
  const buckets: Bucket[] = []
  let start = 0
  while (start < samples.length) {
    const first = samples[start] as Sample // start is below length
    const since = first.time - from
    // The remainder is exact; a quotient may round up into the next bucket
    const begin = from + since - (since % width)
    let end = start + 1
    while (end < samples.length && (samples[end] as Sample).time < begin + width) end += 1 // end is below length
    buckets.push(bucketOf(begin, samples.slice(start, end)))
    start = end
  }
  return buckets
}

function bucketOf(start: number, samples: readonly Sample[]): Bucket {
  const numbers = samples.map((sample) => sample.value).filter((value) => typeof value === 'number')
  const some = numbers.length > 0
  let [sum, sumOfSquares, min, max] = [0, 0, Infinity, -Infinity]
  for (const value of numbers) {
    sum += value
    sumOfSquares += value * value
    if (value < min) min = value
    if (value > max) max = value
  }
  return {
    start,
    count: samples.length,
    numeric: numbers.length,
    sum: some ? sum : null,
    min: some ? min : null,
    max: some ? max : null,
    sumOfSquares: some ? sumOfSquares : null,
    first: (samples[0] as Sample).value, // a bucket has at least one
    last: (samples.at(-1) as Sample).value, // the same
  }
}
