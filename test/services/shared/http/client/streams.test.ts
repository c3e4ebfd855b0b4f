import { describe, expect, it } from 'vitest'
import { jsonLines, serverEvents, textEvents } from '../../../../../src/services/shared/http/client/streams.ts'

/** Creates a response whose bytes arrive in pieces of one size. */
function answerOf(text: string, size = 1_000): Response {
  const bytes = new TextEncoder().encode(text)
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size))
  return new Response(
    new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece)
        controller.close()
      },
    }),
  )
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

describe('server-sent events are parsed by the standard', () => {
  it.each<[string, string, readonly object[]]>([
    ['fields with a space after the colon', 'id: 1\nevent: e\ndata: x\n\n', [{ id: '1', event: 'e', data: 'x' }]],
    ['fields without one', 'id:1\nevent:e\ndata:x\n\n', [{ id: '1', event: 'e', data: 'x' }]],
    [
      'lines that end with CR LF',
      'id: 1\r\ndata: x\r\n\r\ndata: y\r\n\r\n',
      [
        { id: '1', data: 'x' },
        { id: '1', data: 'y' },
      ],
    ],
    ['lines that end with CR', 'data: x\r\rdata: y\r\r', [{ data: 'x' }, { data: 'y' }]],
    ['lines of all kinds', 'data: x\r\n\ndata: y\n\r\n', [{ data: 'x' }, { data: 'y' }]],
    ['several lines of data', 'data: a\ndata:\ndata:  b\n\n', [{ data: 'a\n\n b' }]],
    ['data that is empty', 'data\n\ndata:\n\n', [{ data: '' }, { data: '' }]],
    [
      'a name that counts for one event',
      'event: e\ndata: x\n\ndata: y\n\n',
      [{ event: 'e', data: 'x' }, { data: 'y' }],
    ],
    ['a name without data', 'event: e\n\ndata: y\n\n', [{ data: 'y' }]],
    ['an id with a NUL, which does not count', 'id: 1\0\ndata: x\n\n', [{ data: 'x' }]],
    [
      'an id that is taken back',
      'id: 1\ndata: x\n\nid\ndata: y\n\n',
      [
        { id: '1', data: 'x' },
        { id: '', data: 'y' },
      ],
    ],
    ['comments and unknown fields', ': hello\nretry: 5\nfoo: bar\n data: z\ndata: x\n\n', [{ data: 'x' }]],
    ['a colon in the data', 'data: a: b\n\n', [{ data: 'a: b' }]],
    ['a mark of the byte order', '\ufeffdata: ä\n\n', [{ data: 'ä' }]],
    ['an event that does not end', 'data: x\n\ndata: y\n', [{ data: 'x' }]],
  ])('%s', async (_what, text, events) => {
    for (const size of [1_000, 1, 2, 3]) expect(await all(textEvents(answerOf(text, size)))).toEqual(events)
  })

  it('data of server-sent events are parsed as JSON', async () => {
    expect(await all(serverEvents(answerOf('data: {"a":\ndata: 1}\n\ndata:\n\n')))).toEqual([{ data: { a: 1 } }])
  })
})

it('lines of JSON may end with CR LF, and the last one without a line end', async () => {
  for (const size of [1_000, 1])
    expect(await all(jsonLines(answerOf('1\r\n\n{"a":2}\n3', size)))).toEqual([1, { a: 2 }, 3])
})
