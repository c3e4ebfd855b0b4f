/**
 * Tests streams that readers resume at another process: they begin with messages from the log, and report a gap only
 * when there is one.
 */
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { SWEEP_MS } from '../../../src/services/broker/service.ts'
import { TICK_MS } from '../../../src/services/broker/streams/open-streams.ts'
import { brokerBench, NOON, type BrokerBench } from './support/bench-of-broker.ts'
import { openAnswer } from './support/open-answer.ts'

const SSE = { accept: 'text/event-stream' }

/** Numbers of the resource's messages that the stream must contain, in order */
const NUMBERS = [1, 4, 5, 6, 8]

/** Returns the ids of events, in order. */
const idsOf = (text: string): readonly string[] => [...text.matchAll(/^id: (.*)$/gm)].map(([, id = '']) => id)
const valuesOf = (text: string): readonly number[] => [...text.matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n))

/** Starts two processes on one store, one after the other. */
async function twoLives() {
  const clock = { now: NOON }
  const storage = openMemory({ clock: () => clock.now })
  const first = await brokerBench({ clock, storage, store: 'mark', life: 'one' })
  const next = (): Promise<BrokerBench> => brokerBench({ clock, storage, store: 'mark', life: 'two' })
  return { first, next, clock }
}

// Holds RESUME-1
describe('a stream that continues in another process', () => {
  it('reports each stored message since the last one that was seen, once, then what comes', async () => {
    const { first, next } = await twoLives()
    await using stream = await openAnswer(`${await first.listen()}/resources/a/events`, SSE)
    await stream.until(': here')
    // a post with several messages, one only for series, and several posts in one log entry
    await first.api.posting.events(undefined, [
      { resource: 'b', n: 2 },
      { resource: 'a', n: 1 },
    ])
    await first.api.posting.events('a', [{ n: 3 }, { n: 3 }])
    await Promise.all([4, 5, 6].map((n) => first.api.posting.events('a', { n })))
    await first.api.posting.command('a', { name: 'on' })
    await first.api.posting.events('b', { n: 7 })
    await first.api.posting.events('a', { n: 8 })
    await stream.until('"n":8')
    const ids = idsOf(stream.text)
    await first[Symbol.asyncDispose]()

    await using second = await next()
    const url = await second.listen()
    for (const [place, n] of NUMBERS.entries()) {
      const headers = { ...SSE, 'last-event-id': ids[place] ?? '' }
      await using again = await openAnswer(`${url}/resources/a/events`, headers)
      await again.until(': here')
      await second.api.posting.events('a', { n: 100 + n })
      await again.until(`"n":${100 + n}`)
      const since = NUMBERS.slice(place + 1)
      const posted = NUMBERS.slice(0, place + 1).map((one) => 100 + one)
      expect([valuesOf(again.text), again.text.includes('gap')]).toEqual([[...since, ...posted], false])
    }
    // ids of messages from the log also work
    await using all = await openAnswer(`${url}/messages`, { ...SSE, 'last-event-id': ids[0] ?? '' })
    await all.until('"n":108')
    const [oldest = ''] = idsOf(all.text)
    await using rest = await openAnswer(`${url}/messages`, { ...SSE, 'last-event-id': oldest })
    await rest.until('"n":108')
    expect(valuesOf(rest.text)).toEqual(valuesOf(all.text).slice(1))
    expect(valuesOf(all.text).slice(0, 5)).toEqual([4, 5, 6, 7, 8])
  })

  it('continues as lines and as frames of a socket, when they come with ids', async () => {
    const { first, next } = await twoLives()
    const lines = { accept: 'application/x-ndjson' }
    await using stream = await openAnswer(`${await first.listen()}/resources/a/events?withIds=true`, lines)
    for (const n of [1, 2, 3]) await first.api.posting.events('a', { n })
    await stream.until('"n":3')
    const marked = stream.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; data: { n: number } })
    expect(marked.map(({ data }) => data.n)).toEqual([1, 2, 3])
    await first[Symbol.asyncDispose]()
    await using second = await next()
    const url = await second.listen()
    const query = (id: string) => `?withIds=true&lastEventId=${encodeURIComponent(id)}`
    const [oldest] = marked
    await using again = await openAnswer(`${url}/resources/a/events${query(oldest?.id ?? '')}`, lines)
    await using foreign = await openAnswer(`${url}/messages${query('of another store')}`, lines)
    await second.api.posting.events('a', { n: 4 })
    await Promise.all([again.until('"n":4'), foreign.until('"n":4')])
    expect([valuesOf(again.text), again.text.includes('gap')]).toEqual([[2, 3, 4], false])
    expect([valuesOf(foreign.text), foreign.text.startsWith('{"gap":true}\n')]).toEqual([[4], true])
    const framesOf = async (id: string, count: number): Promise<readonly string[]> => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/resources/a/events/subscribe${query(id)}`)
      const frames: string[] = []
      await new Promise<void>((resolve) => {
        socket.on('message', (data: Buffer) => {
          frames.push(data.toString())
          if (frames.length === count) resolve()
        })
      })
      socket.terminate()
      return frames
    }
    const [, , last] = again.text.trim().split('\n')
    const frames = await framesOf(oldest?.id ?? '', 3)
    expect(frames.map((frame) => valuesOf(frame))).toEqual([[2], [3], [4]])
    expect((JSON.parse(frames[2] ?? '') as { id: string }).id.split('.').slice(2)).toEqual(
      (JSON.parse(last ?? '') as { id: string }).id.split('.').slice(2),
    )
    expect(await framesOf('of another store', 1)).toEqual(['{"gap":true}'])
  })

  it('reports a gap when the log has not all of it any more, or is that of another store', async () => {
    const { first, next, clock } = await twoLives()
    await using stream = await openAnswer(`${await first.listen()}/resources/a/events`, SSE)
    for (const n of [1, 2, 3]) await first.api.posting.events('a', { n })
    await stream.until('"n":3')
    const [oldest = '', , newest = ''] = idsOf(stream.text)
    // log entries are trimmed some minutes after series contain them
    for (let sweeps = 0; sweeps < 2; sweeps += 1) {
      first.timers.fire(SWEEP_MS)
      await first.service.readable()
      await expect.poll(async () => (await first.storage.tenant('acme').log('log').bounds()).last).toBe(3)
      clock.now += 600_000
    }
    await first.service.stop()
    await using second = await next()
    const url = await second.listen()
    const { first: kept } = await second.storage.tenant('acme').log('log').bounds()
    const gapOf = async (id: string): Promise<boolean> => {
      await using again = await openAnswer(`${url}/resources/a/events`, { ...SSE, 'last-event-id': id })
      await again.until(': here')
      await second.api.posting.events('a', { n: 9 })
      await again.until('"n":9')
      return again.text.includes('event: gap')
    }
    expect(kept).toBeLessThanOrEqual(3)
    expect(await gapOf(newest)).toBe(false)
    expect(await gapOf(oldest.replace('mark', 'other'))).toBe(true)
    expect(await gapOf(oldest.replace(/mark\..*/, 'mark.999.1'))).toBe(true)
    await first.app.close()
  })

  it('a heartbeat reports the position of the log to an idle reader', async () => {
    const { first, next } = await twoLives()
    await using stream = await openAnswer(`${await first.listen()}/resources/quiet/events`, SSE)
    await stream.until(': here')
    await first.api.posting.events('a', { n: 1 })
    first.timers.fire(TICK_MS, 60)
    await stream.until('data: {}')
    const [id = ''] = idsOf(stream.text)
    await first.api.posting.events('quiet', { n: 2 })
    await first[Symbol.asyncDispose]()
    await using second = await next()
    await using again = await openAnswer(`${await second.listen()}/resources/quiet/events`, {
      ...SSE,
      'last-event-id': id,
    })
    await again.until('"n":2')
    expect(again.text).not.toContain('gap')
  })
})
