/** Content that may be packed by gzip. */
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

/** The content itself, or what gzip packed in it. */
export async function unpacked(content: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const chunks = content[Symbol.asyncIterator]()
  const first = await chunks.next()
  const whole = joined(first, chunks)
  const isPacked = first.done !== true && first.value[0] === 0x1f && first.value[1] === 0x8b
  if (!isPacked) return whole
  // what goes wrong in either comes out of the reader of the second
  return pipeline(Readable.from(whole, { objectMode: false }), createGunzip(), () => undefined)
}

async function* joined(
  first: IteratorResult<Uint8Array, unknown>,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}
