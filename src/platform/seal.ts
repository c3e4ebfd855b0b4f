/** Encrypts stored secrets with AES-256-GCM under a key of the host. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { AppError } from '#kernel'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
export const SEALED = 'enc:'

export class Seal {
  readonly #key: Uint8Array

  /** `key`: 32 bytes */
  constructor(key: Uint8Array) {
    this.#key = key
  }

  close(secret: string, name: string): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name))
    const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return SEALED + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
  }

  /** Decrypts a text. Throws `STORE` if this key did not seal the text for this place. */
  open(text: string, name: string): string {
    try {
      const bytes = Buffer.from(text.slice(SEALED.length), 'base64')
      const decipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(name))
        .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch (error) {
      throw new AppError(
        'STORE',
        'the secret cannot be decrypted: the key of the data folder has changed; set the secret again',
        { cause: error },
      )
    }
  }
}
