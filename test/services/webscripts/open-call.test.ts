import { describe, expect, it } from 'vitest'
import { OpenCall } from '../../../src/services/webscripts/open-call.ts'
import { ScriptFigures } from '../../../src/services/webscripts/script-figures.ts'
import { ScriptLog } from '../../../src/services/webscripts/script-log.ts'

const LARGE = { text: 'x'.repeat(300_000) }
const request = {
  method: 'GET',
  path: '/',
  query: '',
  headers: [],
  body: new Uint8Array(),
  signal: new AbortController().signal,
}

function opened() {
  const [log, figures] = [new ScriptLog(), new ScriptFigures()]
  const times = { now: () => 0, clock: () => 0, later: () => () => undefined }
  return new OpenCall(times, { requestId: '1', name: 'one', key: 'acme/one', version: '1.0.0', request, log, figures })
}

describe('a response', () => {
  it('in pieces takes one piece after the other: the next one waits for room', async () => {
    const call = opened()
    call.begin({ status: 200, headers: [] })
    const body = (await call.answer).body as AsyncIterable<Uint8Array>
    const first = call.write(LARGE)
    await expect(call.write(LARGE)).rejects.toThrow(
      'a piece is in flight; write the next one after its acknowledgement',
    )
    const read = body[Symbol.asyncIterator]()
    const piece = await read.next()
    expect(piece.value).toHaveLength(300_000)
    await first
    const second = call.write(LARGE)
    await read.next()
    await expect(second).resolves.toBeUndefined()
    await read.return?.()
  })

  it('omits headers about the whole host and all its tenants, or about the connection', async () => {
    const call = opened()
    const names = ['Clear-Site-Data', 'Strict-Transport-Security', 'NEL', 'Report-To', 'Alt-Svc', 'Connection', 'X-Own']
    call.finish({ status: 200, headers: names.map((name) => [name, '1']) })
    expect((await call.answer).headers).toEqual([['x-own', '1']])
  })
})
