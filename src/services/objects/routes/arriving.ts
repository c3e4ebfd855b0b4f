/** Reads a streamed request body, with a timeout while no data arrives. */
import type { IncomingMessage } from 'node:http'
import type { StartTimer } from '#kernel'
import { S3Error } from '../signing/s3-error.ts'

/** longest wait for the next piece, in ms */
const MAX_PAUSE = 30_000

export async function* arriving(body: IncomingMessage, later: StartTimer): AsyncIterable<Uint8Array> {
  let pieces = 0
  let seen = 0
  let isWaiting = true
  const look = (): void => {
    // only time spent waiting for the sender counts, not a slow consumer
    if (isWaiting && pieces === seen)
      return void body.destroy(new S3Error('RequestTimeout', `No data arrived for ${MAX_PAUSE} ms`))
    seen = pieces
    cancel = later(MAX_PAUSE, look)
  }
  let cancel = later(MAX_PAUSE, look)
  try {
    // keep the connection, so that an error response can still be sent
    for await (const piece of body.iterator({ destroyOnReturn: false })) {
      pieces += 1
      isWaiting = false
      // a stream without an encoding yields bytes
      yield piece as Uint8Array
      isWaiting = true
    }
  } finally {
    cancel()
  }
}
