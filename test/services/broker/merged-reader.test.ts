/** One stream of several partitions: what comes of each, and how it ends. */
import { expect, it } from 'vitest'
import { Feed } from '../../../src/kernel/feed.ts'
import type { BrokerMessage, FollowedPart } from '../../../src/services/broker/contract.ts'
import { MergedReader } from '../../../src/services/broker/partitions/merged-reader.ts'

/** A partition elsewhere, that says what it is told to. */
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

// Holds MERGED-1
it('tells what each partition tells, and what was dropped there', async () => {
  const feed = new Feed<BrokerMessage>()
  const far = new Elsewhere()
  const reader = new MergedReader({ own: feed.read(), others: [far.open], isBack: false })
  far.say({ here: true })
  await reader.ready
  feed.publish('near', messageOf(1))
  far.say({ dropped: 3 }, told(2))
  const values = [await reader.next(), await reader.next()].map(({ value }) => value?.value['n'])
  expect(new Set(values)).toEqual(new Set([1, 2]))
  expect([reader.takeDropped(), reader.takeDropped()]).toEqual([3, 0])
})

// Holds MERGED-1
it('ends after what was told when one of them ends, and lets the others go', async () => {
  const feed = new Feed<BrokerMessage>()
  const [one, two] = [new Elsewhere(), new Elsewhere()]
  const reader = new MergedReader({ own: feed.read(), others: [one.open, two.open], isBack: true })
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

it('is refused when a partition is nowhere, or ends before it is there', async () => {
  const ended = new Elsewhere()
  ended.end()
  const reader = new MergedReader({ others: [ended.open], isBack: false })
  await expect(reader.ready).rejects.toMatchObject({ code: 'FENCED' })
  expect(await reader.next()).toEqual({ done: true, value: undefined })
})

it('takes no more from a partition than its reader does, but for a bounded rest', async () => {
  const far = new Elsewhere()
  const reader = new MergedReader({ others: [far.open], isBack: false })
  far.say({ here: true }, ...Array.from({ length: 1_000 }, (_, n) => told(n)))
  await reader.ready
  const { value } = await reader.next()
  expect(value?.value['n']).toBe(0)
  expect(far.taken).toBeLessThan(300)
  for (let n = 1; n < 1_000; n += 1) expect((await reader.next()).value?.value['n']).toBe(n)
  await reader.return()
  expect((await reader.next()).done).toBe(true)
})
