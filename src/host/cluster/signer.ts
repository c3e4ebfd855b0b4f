/** HMAC with SHA-256 by one key, of two digests: an `Hmac` of Node costs ten times as much, most of it for its key. */
import { hash } from 'node:crypto'

/** bytes that SHA-256 takes at once */
const BLOCK = 64

export class Signer {
  readonly #inner: Buffer
  readonly #outer: Buffer

  /** `key`: 64 bytes at most */
  constructor(key: Uint8Array) {
    this.#inner = padded(key, 0x36)
    this.#outer = padded(key, 0x5c)
  }

  /** Of the parts one behind the other. */
  sign(...parts: readonly Uint8Array[]): Buffer {
    const inner = hash('sha256', Buffer.concat([this.#inner, ...parts]), 'buffer')
    return hash('sha256', Buffer.concat([this.#outer, inner]), 'buffer')
  }
}

function padded(key: Uint8Array, pad: number): Buffer {
  const block = Buffer.alloc(BLOCK, pad)
  for (const [at, byte] of key.entries()) block[at] = byte ^ pad
  return block
}
