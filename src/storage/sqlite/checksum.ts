/** Sums that stand beside what is stored: bytes that the disk has changed are noticed before they are served. */
import { crc32 } from 'node:zlib'

/** numbers of one sum, at most */
const MOST = 8
const numbers = new Float64Array(MOST)
const bytes = new Uint8Array(numbers.buffer)

/** Of numbers, null as NaN, and of texts and bytes, in their order; -0 is 0. A whole number of 32 bits. */
export function sumOf(
  some: readonly (number | null)[],
  ...contents: readonly (string | Uint8Array<ArrayBuffer> | null | undefined)[]
): number {
  for (const [at, number] of some.entries()) numbers[at] = (number ?? Number.NaN) + 0
  let sum = crc32(bytes.subarray(0, some.length * Float64Array.BYTES_PER_ELEMENT))
  for (const content of contents) if (content !== null && content !== undefined) sum = crc32(content, sum)
  return sum
}
