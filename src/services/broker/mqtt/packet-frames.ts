/** Splits a connection into packets, and buffers at most one packet. */

/** bytes of the type, and of the longest length */
const MAX_HEADER = 5

/** Valid lower four bits of the first byte, by type; undefined: any. */
const FLAGS: ReadonlyMap<number, number | undefined> = new Map([
  [1, 0],
  [3, undefined],
  [4, 0],
  [5, 0],
  [6, 2],
  [7, 0],
  [8, 2],
  [10, 2],
  [12, 0],
  [14, 0],
  [15, 0],
])

export class PacketFrames {
  /** bytes of the largest packet */
  limit: number
  #chunks: Buffer[] = []
  #size = 0
  /** bytes of the current packet, once known */
  #wanted: number | undefined

  constructor(limit: number) {
    this.limit = limit
  }

  add(bytes: Buffer): void {
    this.#chunks.push(bytes)
    this.#size += bytes.length
  }

  /** The next packet; undefined while it is incomplete; a word for an invalid one. */
  next(): Buffer | 'tooLarge' | 'malformed' | undefined {
    if (this.#wanted === undefined) {
      const length = packetLength(this.#joined(MAX_HEADER))
      if (length === 'malformed') return length
      this.#wanted = length
    }
    if (this.#wanted === undefined) return undefined
    // without waiting for the rest
    if (this.#wanted > this.limit) return 'tooLarge'
    if (this.#size < this.#wanted) return undefined
    const all = this.#joined(this.#wanted)
    const packet = all.subarray(0, this.#wanted)
    this.#chunks[0] = all.subarray(this.#wanted)
    this.#size -= this.#wanted
    this.#wanted = undefined
    return packet
  }

  /** The first chunk, joined to at least so many bytes if they are there. */
  #joined(least: number): Buffer {
    const [first = Buffer.alloc(0)] = this.#chunks
    if (first.length >= least || this.#chunks.length < 2) return first
    const all = Buffer.concat(this.#chunks)
    this.#chunks = [all]
    return all
  }
}

/** Includes the header. Undefined while the length is incomplete. */
function packetLength(bytes: Buffer): number | 'malformed' | undefined {
  const [first] = bytes
  if (first === undefined) return undefined
  // an invalid packet is rejected at once
  if (!FLAGS.has(first >> 4) || (FLAGS.get(first >> 4) ?? first & 0x0f) !== (first & 0x0f)) return 'malformed'
  let rest = 0
  for (let i = 1; i < MAX_HEADER; i++) {
    const byte = bytes[i]
    if (byte === undefined) return undefined
    rest += (byte & 0x7f) * 0x80 ** (i - 1)
    if (byte < 0x80) return 1 + i + rest
  }
  return 'malformed'
}
