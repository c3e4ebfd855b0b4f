/** Checksums of stored records, so that changes by the disk are detected on reading. */
import { crc32 } from 'node:zlib'

/** most numbers of one sum */
const MOST = 8
const numbers = new Float64Array(MOST)
const bytes = new Uint8Array(numbers.buffer)

/**
 * Of numbers, then texts and bytes, in order; -0 is 0. Other values, from a damaged disk, count as NaN or nothing. 32
 * bits.
 */
export function sumOf(some: readonly unknown[], ...contents: readonly unknown[]): number {
  for (const [at, number] of some.entries()) numbers[at] = typeof number === 'number' ? number + 0 : Number.NaN
  let sum = crc32(bytes.subarray(0, some.length * Float64Array.BYTES_PER_ELEMENT))
  for (const content of contents) {
    if (typeof content === 'string' || content instanceof Uint8Array) sum = crc32(content, sum)
  }
  return sum
}
