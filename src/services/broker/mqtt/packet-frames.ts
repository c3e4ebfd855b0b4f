/** Splits the bytes of a connection into packets. Buffers at most one packet. */

/** maximum bytes of a header: the type and the longest length */
const MAX_HEADER = 5

/** Valid lower four bits of the first byte, by packet type; undefined: any. */
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
  limit: number
  #chunks: Buffer[] = []
  #size = 0
  /** bytes of the current packet, once its length is known */
  #wanted: number | undefined

  constructor(limit: number) {
    this.limit = limit
  }

  add(bytes: Buffer): void {
    this.#chunks.push(bytes)
    this.#size += bytes.length
  }

  /** Returns the next packet; undefined while the packet is incomplete; a string if the packet is invalid. */
  next(): Buffer | 'tooLarge' | 'malformed' | undefined {
    if (this.#wanted === undefined) {
      const length = packetLength(this.#joined(MAX_HEADER))
      if (length === 'malformed') return length
      this.#wanted = length
    }
    if (this.#wanted === undefined) return undefined
    // reject a packet that is too large without waiting for its remaining bytes
    if (this.#wanted > this.limit) return 'tooLarge'
    if (this.#size < this.#wanted) return undefined
    const all = this.#joined(this.#wanted)
    const packet = all.subarray(0, this.#wanted)
    this.#chunks[0] = all.subarray(this.#wanted)
    this.#size -= this.#wanted
    this.#wanted = undefined
    return packet
  }

  /** Returns the first chunk, joined with later chunks to at least `least` bytes if available. */
  #joined(least: number): Buffer {
    const [first = Buffer.alloc(0)] = this.#chunks
    if (first.length >= least || this.#chunks.length < 2) return first
    const all = Buffer.concat(this.#chunks)
    this.#chunks = [all]
    return all
  }
}

function packetLength(bytes: Buffer): number | 'malformed' | undefined {
  const [first] = bytes
  if (first === undefined) return undefined
  // reject an invalid packet as early as possible
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
