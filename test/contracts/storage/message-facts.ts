/** Whole messages beside their samples. */
import { expect } from 'vitest'
import type { Json } from '../../../src/kernel/json.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import type { StoredMessage } from '../../../src/storage/series.ts'
import { expectCode, failureOf, START, storeFact, type Suite } from './medium.ts'

const message = (time: number, body: StoredMessage['body'], more: Partial<StoredMessage> = {}): StoredMessage => ({
  resource: 'r',
  stream: 'events',
  time,
  body,
  ...more,
})

const ask = { resource: 'r', stream: 'events' }
const numbers = (messages: readonly StoredMessage[]) => messages.map((one) => one.body['n'])

export function definesMessages(suite: Suite<Storage>): void {
  const fact = storeFact(suite)

  fact(
    'a message that brings its text is the message without: whole, and the same when it comes again',
    async ({ series }) => {
      const body = { n: 1, deep: [{ a: null }] }
      const given = [message(1, body, { expires: START + 86_400_000 }), message(2, body)]
      await series.append({ messages: given.map((one) => ({ ...one, text: JSON.stringify(one.body) })) })
      await series.append({ messages: given })
      expect(await series.messages({ ...ask, descending: false })).toEqual(given)
      const wrong = { ...message(3, body), stream: '', text: JSON.stringify(body) }
      expect((await failureOf(() => series.append({ messages: [wrong] }))).issues).toHaveLength(1)
    },
  )

  fact('a body comes back as it was: order of keys, numbers, odd text', async ({ series }) => {
    const body = { z: 1, a: { '😀': '\u0000\ud800"', list: [2 ** 60, 5e-324, null, true] }, '': '' }
    await series.append({ messages: [message(1, body)] })
    const [read] = await series.messages(ask)
    expect(read?.body).toEqual(body)
    expect(JSON.stringify(read?.body)).toBe(JSON.stringify(body))
  })

  fact('a body is copied on the way in, at the call, and on the way out', async ({ series }) => {
    const body: Record<string, Json> = { n: 1 }
    const appending = series.append({ messages: [message(1, body)] })
    body['n'] = 2
    await appending
    const [read] = await series.messages(ask)
    Object.assign(read?.body ?? {}, { n: 3 })
    expect(numbers(await series.messages(ask))).toEqual([1])
  })

  fact('streams, resources and tenants do not meet', async ({ series, storage, tenant }) => {
    await series.append({ messages: [message(1, { n: 1 }), message(1, { n: 2 }, { stream: 'Events' })] })
    await storage.tenant(`${tenant}.b`).series.append({ messages: [message(1, { n: 3 })] })
    expect(numbers(await series.messages(ask))).toEqual([1])
    expect(await series.messages({ resource: 'R', stream: 'events' })).toEqual([])
  })

  fact('100 come where no limit is given, and 10,000 at most', async ({ series }) => {
    await series.append({ messages: Array.from({ length: 150 }, (_, n) => message(n, { n })) })
    expect(numbers(await series.messages(ask))).toEqual(Array.from({ length: 100 }, (_, i) => 149 - i))
    expect(await series.messages({ ...ask, limit: 10_000 })).toHaveLength(150)
    await expectCode(() => series.messages({ ...ask, limit: 10_001 }), 'TOO_LARGE')
    await expectCode(() => series.messages({ ...ask, limit: 0 }), 'VALIDATION')
    await expectCode(() => series.messages({ ...ask, from: 0.5 }), 'VALIDATION')
  })

  fact('an expired message is gone for readers', async ({ series, clock }) => {
    await series.append({ messages: [message(1, { n: 1 }, { expires: START + 5 }), message(2, { n: 2 })] })
    expect(await series.messages(ask)).toEqual([message(2, { n: 2 }), message(1, { n: 1 }, { expires: START + 5 })])
    clock.now = START + 5
    expect(numbers(await series.messages(ask))).toEqual([2])
  })

  fact('remove forgets messages, samples, or both', async ({ series }) => {
    const samples = [1, 2].map((time) => ({ resource: 'r', metric: 'm', time, value: time }))
    const see = async () => [
      (await series.range({ resources: ['r'], metric: 'm' })).length,
      (await series.messages(ask)).length,
      (await series.messages({ ...ask, stream: 'other' })).length,
    ]
    await series.append({
      samples,
      messages: [message(1, { n: 1 }), message(2, { n: 2 }), message(2, {}, { stream: 'other' })],
    })
    await series.remove({ resource: 'r', until: 1, only: 'messages' })
    expect(await see()).toEqual([2, 1, 1])
    await series.remove({ resource: 'r', until: 1, only: 'samples' })
    expect(await see()).toEqual([1, 1, 1])
    await series.remove({ resource: 's' })
    expect(await see()).toEqual([1, 1, 1])
    await series.remove({ resource: 'r', from: 2 })
    expect(await see()).toEqual([0, 0, 0])
  })

  fact('a bad message is named, and nothing of its batch is written', async ({ series }) => {
    const bad: readonly (readonly [string, Record<string, unknown>])[] = [
      ['/messages/1/resource', { resource: '' }],
      ['/messages/1/stream', { stream: '' }],
      ['/messages/1/time', { time: 0.5 }],
      ['/messages/1/expires', { expires: Number.NaN }],
      ['/messages/1/body', { body: [1] }],
      ['/messages/1/body', { body: null }],
    ]
    for (const [path, part] of bad) {
      const failure = await failureOf(() =>
        series.append({
          samples: [{ resource: 'r', metric: 'm', time: 1, value: 1 }],
          messages: [message(1, {}), { ...message(1, {}), ...part }],
        }),
      )
      expect([failure.code, failure.issues.map((issue) => issue.path)]).toEqual(['VALIDATION', [path]])
    }
    await expectCode(() => series.append({ messages: [message(1, { a: 'x'.repeat(1_048_576) })] }), 'TOO_LARGE')
    expect(await series.messages(ask)).toEqual([])
    expect(await series.latest('r')).toEqual([])
  })
}
