import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { OpenCall } from '../../../src/services/webscripts/open-call.ts'

const LARGE = { text: 'x'.repeat(300_000) }

describe('an answer in pieces', () => {
  it('takes one piece after the other: the next one waits for room', async () => {
    let stream = new Readable()
    const call = new OpenCall({
      owner: 'acme',
      body: new Uint8Array(),
      later: () => () => undefined,
      begun: (_head, pieces) => (stream = pieces),
    })
    call.begin({ status: 200, headers: [] })
    const first = call.write(LARGE)
    await expect(call.write(LARGE)).rejects.toThrow('a piece is on its way; write the next one when it is answered')
    const read = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
    const piece = await read.next()
    expect(piece.value).toHaveLength(300_000)
    await first
    const second = call.write(LARGE)
    await read.next()
    await expect(second).resolves.toBeUndefined()
    stream.destroy()
  })
})
