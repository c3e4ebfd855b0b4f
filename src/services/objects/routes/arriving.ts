/** A body that comes for as long as it comes: it is given up only when nothing of it came for a while. */
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
    // who takes the pieces may be slow, and that is not the sender's fault
    if (isWaiting && pieces === seen)
      return void body.destroy(new S3Error('RequestTimeout', `Nothing came for ${MAX_PAUSE} ms`))
    seen = pieces
    cancel = later(MAX_PAUSE, look)
  }
  let cancel = later(MAX_PAUSE, look)
  try {
    // who stops reading has an answer to send first
    for await (const piece of body.iterator({ destroyOnReturn: false })) {
      pieces += 1
      isWaiting = false
      // nobody sets an encoding: they are bytes
      yield piece as Uint8Array
      isWaiting = true
    }
  } finally {
    cancel()
  }
}
