/** Sums that stand beside what is stored: bytes that the disk has changed are noticed before they are served. */
import { crc32 } from 'node:zlib'

/** numbers of one sum, at most */
const MOST = 8
const numbers = new Float64Array(MOST)
const bytes = new Uint8Array(numbers.buffer)

/**
 * Of numbers, and of texts and bytes, in their order; -0 is 0. What is neither counts as NaN or as nothing: a disk may have
 * made anything of it. A whole number of 32 bits.
 */
export function sumOf(some: readonly unknown[], ...contents: readonly unknown[]): number {
  for (const [at, number] of some.entries()) numbers[at] = typeof number === 'number' ? number + 0 : Number.NaN
  let sum = crc32(bytes.subarray(0, some.length * Float64Array.BYTES_PER_ELEMENT))
  for (const content of contents) {
    if (typeof content === 'string' || content instanceof Uint8Array) sum = crc32(content, sum)
  }
  return sum
}
