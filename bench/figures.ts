/** Formats figures for tables. */
import { digits } from '../src/bench/figures.ts'

export { digits, median, rate } from '../src/bench/figures.ts'

export function megabytes(bytes: number): string {
  return `${digits(bytes / 1_048_576)} MiB`
}

/** `part` of `whole` in percent, `-` without a whole. */
export function percent(part: number, whole: number | undefined): string {
  return whole === undefined ? '-' : `${digits((part / whole) * 100)} %`
}
