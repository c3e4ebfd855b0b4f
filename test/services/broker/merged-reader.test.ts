/** Tests one stream over several partitions: what it contains from each, and how it ends. */
import { expect, it } from 'vitest'
import { Feed } from '../../../src/kernel/feed.ts'
import type { BrokerMessage, FollowedPart } from '../../../src/services/broker/contract.ts'
import { followed } from '../../../src/services/broker/partitions/broker-partition.ts'
import { MergedReader } from '../../../src/services/broker/partitions/merged-reader.ts'

/** A partition on another host, which sends what the test requests. */
class Elsewhere {
  readonly #parts: FollowedPart[] = []
  #wake: () => void = () => undefined
  #isOver = false
  taken = 0

  readonly open = async function* (this: Elsewhere, signal: AbortSignal): AsyncGenerator<FollowedPart> {
    signal.addEventListener('abort', () => this.end())
    for (;;) {
      for (let part = this.#parts.shift(); part !== undefined; part = this.#parts.shift()) {
        this.taken += 1
        yield part
      }
      if (this.#isOver) return
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }.bind(this)

  say(...parts: readonly FollowedPart[]): void {
    this.#parts.push(...parts)
    this.#wake()
  }

  end(): void {
    this.#isOver = true
    this.#wake()
  }
}

const messageOf = (n: number): BrokerMessage => ({ n, timestamp: 0 })
const told = (n: number): FollowedPart => ({ resource: 'far', message: messageOf(n) })
/** Returns a partition of this process. */
const near = (feed: Feed<BrokerMessage>) => (signal: AbortSignal) => {
  const streams = { firehose: feed.read.bind(feed), subscribe: () => feed.read() }
  return followed(streams, { channel: 'events' }, signal)
}

// Holds MERGED-1
it('reports what each partition reports, and what was dropped there', async () => {
  const feed = new Feed<BrokerMessage>()
  const far = new Elsewhere()
  const reader = new MergedReader({ parts: [near(feed), far.open], isGap: false })
  far.say({ here: true })
  await reader.ready
  feed.publish('near', messageOf(1))
  far.say({ dropped: 3 }, told(2))
  const values = [await reader.next(), await reader.next()].map(({ value }) => value?.value['n'])
  expect(new Set(values)).toEqual(new Set([1, 2]))
  expect([reader.takeDropped(), reader.takeDropped()]).toEqual([3, 0])
})

it('states where its reader is in all of them, also in the ones that reported nothing', async () => {
  const [one, two] = [new Elsewhere(), new Elsewhere()]
  const reader = new MergedReader({ parts: [one.open, two.open], isGap: false })
  one.say({ here: true, place: { position: 4, count: 0 } })
  two.say({ here: true, place: { position: 9, count: 2, partition: 1 } })
  await reader.ready
  const others = [{ position: 9, count: 2, partition: 1 }]
  expect(reader.passed).toEqual({ number: 0, place: { position: 4, count: 0, others } })
  one.say({ resource: 'far', message: messageOf(1), place: { position: 4, count: 1 } })
  expect((await reader.next()).value?.place).toEqual({ position: 4, count: 1, others })
  // this message is in no log
  two.say(told(2))
  expect((await reader.next()).value?.place).toEqual({ position: 4, count: 1, others })
  two.say({ resource: 'far', message: messageOf(3), place: { position: 12, count: 1, partition: 1 } })
  expect((await reader.next()).value?.place?.others).toEqual([{ position: 12, count: 1, partition: 1 }])
})

it('is a gap when one of them has no longer what came since, and knows no place without that of each', async () => {
  const [one, two] = [new Elsewhere(), new Elsewhere()]
  const reader = new MergedReader({ parts: [one.open, two.open], isGap: false })
  one.say({ here: true, place: { position: 4, count: 0 } })
  two.say({ here: true, missed: true })
  await reader.ready
  expect([reader.missed, reader.passed]).toEqual([true, { number: 0, place: undefined }])
})

// Holds MERGED-1
it('ends after the messages so far when one of them ends, and releases the others', async () => {
  const feed = new Feed<BrokerMessage>()
  const [one, two] = [new Elsewhere(), new Elsewhere()]
  const reader = new MergedReader({ parts: [near(feed), one.open, two.open], isGap: true })
  for (const far of [one, two]) far.say({ here: true })
  await reader.ready
  expect(reader.missed).toBe(true)
  one.say(told(1))
  one.end()
  const values: unknown[] = []
  for await (const { value } of reader) values.push(value['n'])
  expect(values).toEqual([1])
  expect(feed.readers).toBe(0)
})

it('is rejected when a partition is nowhere, or ends before it is there', async () => {
  const ended = new Elsewhere()
  ended.end()
  const reader = new MergedReader({ parts: [ended.open], isGap: false })
  await expect(reader.ready).rejects.toMatchObject({ code: 'FENCED' })
  expect(await reader.next()).toEqual({ done: true, value: undefined })
})

it('releases partitions that it has joined when another is nowhere', async () => {
  let isLetGo = false
  const joined = async function* (): AsyncGenerator<FollowedPart> {
    try {
      yield { here: true }
      yield told(1)
    } finally {
      isLetGo = true
    }
  }
  const nowhere = async function* (): AsyncGenerator<FollowedPart> {}
  const reader = new MergedReader({ parts: [joined, nowhere], isGap: false })
  await expect(reader.ready).rejects.toMatchObject({ code: 'FENCED' })
  await expect.poll(() => isLetGo).toBe(true)
})

it('accepts no longer from a partition than its reader does, but for a bounded rest', async () => {
  const far = new Elsewhere()
  const reader = new MergedReader({ parts: [far.open], isGap: false })
  far.say({ here: true }, ...Array.from({ length: 1_000 }, (_, n) => told(n)))
  await reader.ready
  const { value } = await reader.next()
  expect(value?.value['n']).toBe(0)
  expect(far.taken).toBeLessThan(300)
  for (let n = 1; n < 1_000; n += 1) expect((await reader.next()).value?.value['n']).toBe(n)
  await reader.return()
  expect((await reader.next()).done).toBe(true)
})
