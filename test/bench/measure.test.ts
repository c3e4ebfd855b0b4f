/** Tests how messages are sent to the subject of a measurement. */
import { expect, it } from 'vitest'
import { Driver } from '../../src/bench/measure.ts'
import { type Driven, Feed } from '../../src/bench/subject.ts'

const feed = () => new Feed([{ resource: 'r', timestamp: 0 }], 'r', 1)

/** Opens `calls` with every message; all of them end when they are awaited. */
function counted(calls: number) {
  const seen = { taken: 0, open: 0, most: 0, asked: 0, waited: 0 }
  const driven: Driven = {
    take() {
      seen.taken++
      seen.open += calls
      seen.most = Math.max(seen.most, seen.open)
    },
    get open() {
      seen.asked++
      return seen.open
    },
    settled() {
      seen.waited++
      seen.open = 0
      return Promise.resolve()
    },
    heard: 0,
    ways: () => undefined,
  }
  return { seen, driven }
}

it('a subject without calls is rarely polled for open calls', async () => {
  const { seen, driven } = counted(0)
  await new Driver(driven, feed()).run(10_000)
  expect(seen).toMatchObject({ taken: 10_000, waited: 0 })
  expect(seen.asked).toBeLessThan(200)
})

it('messages wait while the maximum number of calls is open', async () => {
  const { seen, driven } = counted(1)
  await new Driver(driven, feed()).run(1000)
  expect(seen).toMatchObject({ taken: 1000, open: 0, most: 256, waited: 4 })
})
