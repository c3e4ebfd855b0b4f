/** Converts a list of samples to columns. */
import type { Sample, SampleColumns } from './series.ts'

export function columnsOf(samples: readonly Sample[]): SampleColumns {
  const times = Float64Array.from(samples, ({ time }) => time)
  const numbers = new Float64Array(samples.length)
  for (const [i, { value }] of samples.entries()) {
    if (typeof value !== 'number') return { times, values: samples.map((sample) => sample.value) }
    numbers[i] = value
  }
  return { times, values: numbers }
}
