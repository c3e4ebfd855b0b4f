import { describe, expect, it } from 'vitest'
import type { StoredMessage } from '../../../../src/storage/contract.ts'
import { DAY, NOW, shelf } from './support/series-in-memory.ts'

const message = (resource: string, time: number, t: number): StoredMessage => {
  return { resource, stream: 'events', time, body: { t, timestamp: time } }
}
const messages = [
  message('a', NOW - 30 * DAY, 1),
  message('a', NOW - 1_000, 2),
  message('a', NOW, 3),
  message('b', NOW - 500, 4),
  { ...message('a', NOW, 9), stream: 'commands' },
]

describe('messages of several resources', () => {
  it('are all that is kept, newest first, by resource in the order asked', async () => {
    const { queryMessages } = await shelf([], { messages })
    expect(await queryMessages({ resources: ['b', 'nobody', 'a'], limit: 2 })).toEqual({
      query: { resources: ['b', 'nobody', 'a'], limit: 2 },
      results: [
        { resource: 'b', messages: [{ t: 4, timestamp: NOW - 500 }] },
        {
          resource: 'a',
          messages: [
            { t: 3, timestamp: NOW },
            { t: 2, timestamp: NOW - 1_000 },
          ],
        },
      ],
    })
  })

  it.each([
    ['window', { window: '1s' }, [3, 2], { from: NOW - 1_000, until: NOW }],
    ['until', { until: NOW - 1 }, [2], { from: NOW - 1 - 7 * DAY, until: NOW - 1 }],
    ['from', { from: 0 }, [3, 2, 1], { from: 0, until: NOW }],
    ['from and until', { from: 0, until: NOW - 1_000 }, [2, 1], { from: 0, until: NOW - 1_000 }],
  ])('are those of a %s', async (_, bounds, values, range) => {
    const { queryMessages } = await shelf([], { messages })
    const { query, results } = await queryMessages({ resources: ['a'], ...bounds })
    expect(query).toEqual({ resources: ['a'], ...bounds, ...range })
    expect(results.flatMap((one) => one.messages.map(({ t }) => t))).toEqual(values)
  })

  it('are the newest of a range', async () => {
    const { queryMessages } = await shelf([], { messages })
    const { results } = await queryMessages({ resources: ['a'], from: 0, limit: 1 })
    expect(results).toMatchObject([{ messages: [{ t: 3 }] }])
  })

  it('are rejected when they would be more than 20,000', async () => {
    const names = Array.from({ length: 201 }, (_, i) => `r${i}`)
    const many = names.flatMap((name) => Array.from({ length: 100 }, (_, i) => message(name, NOW - i, i)))
    const { queryMessages } = await shelf([], { messages: many })
    await expect(queryMessages({ resources: names })).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect((await queryMessages({ resources: names, limit: 99 })).results).toHaveLength(201)
  })
})
