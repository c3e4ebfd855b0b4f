/** Reads a streamed body with an idle timeout. */
import type { IncomingMessage } from 'node:http'
import type { StartTimer } from '#kernel'
import { S3Error } from '../signing/s3-error.ts'

/** ms without a byte */
const MAX_PAUSE = 30_000

export async function* arriving(body: IncomingMessage, later: StartTimer): AsyncIterable<Uint8Array> {
  let pieces = 0
  let seen = 0
  let isWaiting = true
  const look = (): void => {
    // a slow reader is not the sender's fault
    if (isWaiting && pieces === seen)
      return void body.destroy(new S3Error('RequestTimeout', `Nothing came for ${MAX_PAUSE} ms`))
    seen = pieces
    cancel = later(MAX_PAUSE, look)
  }
  let cancel = later(MAX_PAUSE, look)
  try {
    // a refusal can still be answered
    for await (const piece of body.iterator({ destroyOnReturn: false })) {
      pieces += 1
      isWaiting = false
      // without an encoding: bytes
      yield piece as Uint8Array
      isWaiting = true
    }
  } finally {
    cancel()
  }
}
