/** Computes checksums of stored records, so that reading detects changes made by the disk. */
import { crc32 } from 'node:zlib'

/** maximum number of numbers in one checksum */
const MOST = 8
const numbers = new Float64Array(MOST)
const bytes = new Uint8Array(numbers.buffer)

/** -0 counts as 0. Values of unexpected types, from a damaged disk, count as NaN or as nothing. */
export function sumOf(some: readonly unknown[], ...contents: readonly unknown[]): number {
  for (const [at, number] of some.entries()) numbers[at] = typeof number === 'number' ? number + 0 : Number.NaN
  let sum = crc32(bytes.subarray(0, some.length * Float64Array.BYTES_PER_ELEMENT))
  for (const content of contents) {
    if (typeof content === 'string' || content instanceof Uint8Array) sum = crc32(content, sum)
  }
  return sum
}
