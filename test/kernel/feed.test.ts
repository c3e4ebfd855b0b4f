import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { Feed, type FeedReader } from '../../src/kernel/feed.ts'

/** Reads the queue of a reader until the feed ends. */
async function rest<T>(reader: FeedReader<T>): Promise<T[]> {
  const values: T[] = []
  for await (const { value } of reader) values.push(value)
  return values
}

// Holds FEED-2
describe('publishing', () => {
  it('looks up the readers of its topic once, and visits no others', () => {
    const feed = new Feed<number>()
    let asked = 0
    const counting = (topic: string) => ({
      topic,
      get most() {
        asked++
        return 10
      },
    })
    for (let i = 0; i < 100; i++) feed.read(counting(`t${i}`))
    const lookUps = vi.spyOn(Map.prototype, 'get')
    const walks = vi.spyOn(Map.prototype, 'values')
    feed.publish('unread', 1)
    const counts = [lookUps.mock.calls.length, walks.mock.calls.length, asked]
    vi.restoreAllMocks()
    expect(counts).toEqual([1, 0, 0])
    feed.publish('t7', 2)
    expect(asked).toBe(1)
  })
})

// Holds FEED-1, FEED-3
describe('a feed', () => {
  it('sends a reader what is published after it joined, in order', async () => {
    const feed = new Feed<number>()
    feed.publish('a', 1)
    const reader = feed.read()
    feed.publish('a', 2)
    feed.publish('b', 3)
    feed.end()
    expect(await rest(reader)).toEqual([2, 3])
  })

  it('sends a reader of one topic only that topic', async () => {
    const feed = new Feed<number>()
    const reader = feed.read({ topic: 'a' })
    feed.publish('b', 1)
    feed.publish('a', 2)
    feed.end()
    expect(await rest(reader)).toEqual([2])
  })

  it('resolves the pending read of a waiting reader', async () => {
    const feed = new Feed<string>()
    const next = feed.read({ topic: 'a' }).next()
    feed.publish('a', 'x')
    expect((await next).value).toEqual({ number: 1, topic: 'a', value: 'x' })
  })

  it('drops the oldest values of a slow reader, and counts them', async () => {
    const feed = new Feed<number>()
    const reader = feed.read({ most: 2 })
    for (const value of [1, 2, 3, 4, 5]) feed.publish('a', value)
    expect(reader.takeDropped()).toBe(3)
    expect(reader.takeDropped()).toBe(0)
    expect(feed.dropped).toBe(3)
    feed.end()
    expect(await rest(reader)).toEqual([4, 5])
  })

  it('ends a slow reader that requires every value, after its queue is read', async () => {
    const feed = new Feed<number>()
    const reader = feed.read({ most: 2, overflow: 'end' })
    for (const value of [1, 2, 3]) feed.publish('a', value)
    expect(await rest(reader)).toEqual([1, 2])
    expect(feed.readers).toBe(0)
  })

  it('reports to a returning reader of all topics whether something was published meanwhile', () => {
    const feed = new Feed<number>({ kept: 10 })
    feed.publish('a', 1)
    expect(feed.read({ after: 1 }).missed).toBe(false)
    feed.publish('b', 2)
    expect([0, 1, 2, 3].map((after) => feed.read({ after }).missed)).toEqual([true, true, false, true])
    expect(feed.read().missed).toBe(false)
  })

  it('sends a returning reader what it missed', async () => {
    const feed = new Feed<string>({ kept: 3 })
    for (const value of ['a', 'b', 'c', 'd']) feed.publish('t', value)
    const reader = feed.read({ topic: 't', after: 2 })
    feed.end()
    expect(reader.missed).toBe(false)
    expect(await rest(reader)).toEqual(['c', 'd'])
  })

  it('reports a gap to a reader that returns too late', async () => {
    const feed = new Feed<string>({ kept: 2 })
    for (const value of ['a', 'b', 'c', 'd']) feed.publish('t', value)
    const reader = feed.read({ topic: 't', after: 1 })
    feed.end()
    expect(reader.missed).toBe(true)
    expect(await rest(reader)).toEqual(['c', 'd'])
  })

  it('reports a gap when the whole topic was forgotten', () => {
    const feed = new Feed<string>({ kept: 2, keptTopics: 1 })
    feed.publish('t', 'a')
    feed.publish('u', 'b')
    expect(feed.read({ topic: 't', after: 0 }).missed).toBe(true)
    expect(feed.read({ topic: 't', after: 1 }).missed).toBe(false)
  })

  it('keeps values of a topic from its first reader on, if so configured', async () => {
    const feed = new Feed<string>({ kept: 2, keptTopics: 1, keptOnceRead: true })
    expect(feed.isWanted('t')).toBe(false)
    feed.publish('t', 'a')
    feed.pass()
    expect(feed.read({ topic: 't', after: 1 }).missed).toBe(true)
    expect(feed.isWanted('t')).toBe(true)
    feed.publish('t', 'c')
    const back = feed.read({ topic: 't', after: 2 })
    expect(back.missed).toBe(false)
    // one topic is kept, and the first has readers all the same
    void feed.read({ topic: 'u' }).return?.()
    feed.publish('t', 'd')
    expect([2, 3].map((after) => feed.read({ topic: 't', after }).missed)).toEqual([true, false])
    feed.end()
    expect(await rest(back)).toEqual(['c', 'd'])
  })

  it('treats a number beyond the newest as one of another feed', async () => {
    const feed = new Feed<string>({ kept: 2 })
    feed.publish('t', 'a')
    const reader = feed.read({ topic: 't', after: 99 })
    feed.end()
    expect(reader.missed).toBe(true)
    expect(await rest(reader)).toEqual(['a'])
  })

  it('treats numbers of an earlier feed as no longer kept', () => {
    const feed = new Feed<number>({ kept: 2, behind: 100 })
    expect(feed.read({ topic: 'a', after: 100 }).missed).toBe(false)
    feed.publish('a', 1)
    expect(feed.last).toBe(101)
    expect([99, 100, 101].map((after) => feed.read({ topic: 'a', after }).missed)).toEqual([true, false, false])
  })

  it('removes a reader when its signal aborts', async () => {
    const feed = new Feed<number>()
    const gone = new AbortController()
    const reader = feed.read({ topic: 'a', signal: gone.signal })
    const next = reader.next()
    feed.publish('a', 1)
    await next
    feed.publish('a', 2)
    gone.abort()
    expect((await reader.next()).done).toBe(true)
    expect(feed.hasReaders('a')).toBe(false)
    expect((await feed.read({ signal: gone.signal }).next()).done).toBe(true)
  })

  it('loses and repeats nothing without counting it, at any pace', async () => {
    const pace = fc.array(fc.constantFrom('publish' as const, 'read' as const), { maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(pace, fc.integer({ min: 1, max: 5 }), async (steps, most) => {
        const feed = new Feed<number>()
        const reader = feed.read({ most })
        const got: number[] = []
        let sent = 0
        for (const step of steps) {
          if (step === 'publish') feed.publish('t', ++sent)
          else if (got.length + feed.dropped < sent) {
            const next = await reader.next()
            if (next.done !== true) got.push(next.value.value)
          }
        }
        feed.end()
        got.push(...(await rest(reader)))
        expect(got.length + feed.dropped).toBe(sent)
        expect(got).toEqual([...got].sort((a, b) => a - b))
        expect(new Set(got).size).toBe(got.length)
      }),
    )
  })
})
