/**
 * Encodes batches of frames between two hosts. Each batch is one write; each frame belongs to one request. A batch is
 * signed together with its number, so that it cannot be changed, inserted, repeated or dropped on the way.
 *
 * A batch consists of: 4 bytes length of the frames, 16 bytes signature, frames. A frame consists of: 4 bytes length of
 * the rest, 1 byte kind, 4 bytes request number, 4 bytes length of the head, head in UTF-8, body.
 *
 * FRAMEBATCH-1 frames are read as they were written, wherever the bytes were split on their way
 * FRAMEBATCH-2 bytes not written by a host of the cluster, to this host and at this position, are rejected with a
 *   sentence before anything of their batch is used
 * FRAMEBATCH-3 at most one batch, whose length is bounded, is held in memory
 */
import { timingSafeEqual } from 'node:crypto'
import type { Signer } from '../signer.ts'

export interface Frame {
  readonly kind: number
  readonly number: number
  readonly head: string
  /** Bytes, or a string with one character per byte */
  readonly body: Uint8Array | string
}

export interface ReadFrame extends Frame {
  readonly body: Buffer
}

/** Maximum total bytes of the frames in a batch */
export const MAX_BATCH = 1_048_576
const SIGNATURE = 16
const BATCH_HEAD = 4 + SIGNATURE
const FRAME_HEAD = 13

/** Returns the encoded size of a frame in bytes. */
export function frameSize({ head, body }: Frame): number {
  return FRAME_HEAD + Buffer.byteLength(head) + body.length
}

export class BatchWriter {
  readonly #signer: Signer
  #count = 0n

  constructor(signer: Signer) {
    this.#signer = signer
  }

  /** `size`: sum of `frameSize`, at most `MAX_BATCH` */
  write(frames: readonly Frame[], size: number): Buffer {
    const bytes = Buffer.allocUnsafe(BATCH_HEAD + size)
    let at = BATCH_HEAD
    for (const { kind, number, head, body } of frames) {
      const headEnd = at + FRAME_HEAD + bytes.write(head, at + FRAME_HEAD)
      const end = headEnd + body.length
      bytes.writeUInt32BE(end - at - 4, at)
      bytes.writeUInt8(kind, at + 4)
      bytes.writeUInt32BE(number, at + 5)
      bytes.writeUInt32BE(headEnd - at - FRAME_HEAD, at + 9)
      if (typeof body === 'string') bytes.write(body, headEnd, 'latin1')
      else bytes.set(body, headEnd)
      at = end
    }
    bytes.writeUInt32BE(size, 0)
    signatureOf(this.#signer, this.#count++, bytes.subarray(BATCH_HEAD)).copy(bytes, 4)
    return bytes
  }
}

export class BatchReader {
  readonly #signer: Signer
  #count = 0n
  #pieces: Buffer[] = []
  #held = 0
  /** Length of the incoming batch with its header; undefined until the header has arrived */
  #length: number | undefined

  constructor(signer: Signer) {
    this.#signer = signer
  }

  get hasRead(): boolean {
    return this.#count > 0n
  }

  /** Throws an Error with a sentence; afterwards the reader is unusable. */
  read(piece: Buffer): readonly ReadFrame[] {
    this.#pieces.push(piece)
    this.#held += piece.length
    const frames: ReadFrame[] = []
    for (;;) {
      if (this.#held < (this.#length ?? BATCH_HEAD)) return frames
      const [first = piece] = this.#pieces
      const bytes = this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces)
      const length = bytes.readUInt32BE(0)
      if (length > MAX_BATCH) throw new Error(`a batch of frames has ${length} bytes, more than ${MAX_BATCH}`)
      const end = BATCH_HEAD + length
      this.#length = end
      if (bytes.length < end) {
        this.#pieces = [bytes]
        return frames
      }
      const signed = bytes.subarray(BATCH_HEAD, end)
      if (!timingSafeEqual(signatureOf(this.#signer, this.#count, signed), bytes.subarray(4, BATCH_HEAD)))
        throw new Error('a batch of frames is not signed by a host of the cluster for this place')
      this.#count += 1n
      readFrames(signed, frames)
      this.#length = undefined
      this.#held = bytes.length - end
      this.#pieces = this.#held === 0 ? [] : [bytes.subarray(end)]
    }
  }
}

function readFrames(bytes: Buffer, frames: ReadFrame[]): void {
  for (let at = 0; at < bytes.length;) {
    if (bytes.length - at < FRAME_HEAD) throw new Error('the head of a frame is incomplete')
    const end = at + 4 + bytes.readUInt32BE(at)
    const headEnd = at + FRAME_HEAD + bytes.readUInt32BE(at + 9)
    if (end > bytes.length || headEnd > end) throw new Error('a frame ends behind its batch')
    frames.push({
      kind: bytes.readUInt8(at + 4),
      number: bytes.readUInt32BE(at + 5),
      head: bytes.toString('utf8', at + FRAME_HEAD, headEnd),
      body: bytes.subarray(headEnd, end),
    })
    at = end
  }
}

function signatureOf(signer: Signer, count: bigint, frames: Uint8Array): Buffer {
  const place = Buffer.allocUnsafe(8)
  place.writeBigUInt64BE(count)
  return signer.sign(place, frames).subarray(0, SIGNATURE)
}
