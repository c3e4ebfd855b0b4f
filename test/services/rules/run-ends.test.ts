import { expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import { RunEnds } from '../../../src/services/rules/run-ends.ts'
import type { EndedRun } from '../../../src/services/rules/runner.ts'

const endOf = (id: string): EndedRun => ({
  id,
  epoch: 1,
  status: 'stopped',
  finishedTime: 7,
})
const away = () => new AppError('UNAVAILABLE', 'the store is unavailable')
const turn = () => new Promise((resolve) => void setImmediate(resolve))

function setUp() {
  const stored: string[] = []
  const log: string[] = []
  const timers = new Set<() => void>()
  const world = { failure: undefined as Error | undefined }
  const ends = new RunEnds({
    store: async ({ id }) => {
      if (world.failure) throw world.failure
      stored.push(id)
    },
    startTimer: (_ms, work) => {
      timers.add(work)
      return () => void timers.delete(work)
    },
    logger: { warn: (line) => void log.push(line), error: (line) => void log.push(line) },
  })
  const passTime = async () => {
    for (const work of timers) {
      timers.delete(work)
      work()
    }
    await turn()
  }
  return { ends, world, stored, log, timers, passTime }
}

it('ends are stored when the store is back, all of them by one timer', async () => {
  const { ends, world, stored, log, timers, passTime } = setUp()
  world.failure = away()
  for (const id of ['a', 'b']) ends.note(endOf(id))
  await turn()
  expect(timers.size).toBe(1)
  await passTime()
  expect([stored, timers.size]).toEqual([[], 1])
  world.failure = undefined
  await passTime()
  expect([stored.toSorted(), timers.size, log]).toEqual([['a', 'b'], 0, []])
})

it('ends are logged when a retry cannot succeed', async () => {
  const { ends, world, log, timers } = setUp()
  world.failure = new AppError('STORE', 'a newer version wrote it')
  ends.note(endOf('a'))
  await turn()
  expect([log, timers.size]).toEqual([['the end of task a was not stored: a newer version wrote it'], 0])
})

it('ends are left to the next start by a stop, which does not wait for an unavailable store', async () => {
  const { ends, world, stored, timers } = setUp()
  world.failure = away()
  ends.note(endOf('a'))
  await turn()
  ends.note(endOf('b'))
  await ends.stop()
  expect([stored, timers.size]).toEqual([[], 0])
})
