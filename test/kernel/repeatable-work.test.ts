import { expect, it } from 'vitest'
import { RepeatableWork } from '../../src/kernel/repeatable-work.ts'
import { deferred } from '../support/deferred.ts'

function worked() {
  const gates = [deferred(), deferred(), deferred()]
  const failures: unknown[] = []
  const timers: (() => void)[] = []
  let count = 0
  const work = new RepeatableWork({
    work: async () => gates[count++]?.promise,
    later: (_ms, again) => {
      timers.push(again)
      return () => void timers.splice(timers.indexOf(again), 1)
    },
    retryMs: 1,
    failed: (error) => void failures.push(error),
  })
  return { work, gates, failures, timers, count: () => count }
}

it('runs once more for all requests that arrive while it runs', async () => {
  const { work, gates, count } = worked()
  for (let asked = 0; asked < 3; asked++) work.wake()
  expect(count()).toBe(1)
  for (const { resolve } of gates) resolve()
  await work.idle()
  expect(count()).toBe(2)
})

it('is retried after a failure, which is reported once', async () => {
  const { work, gates, failures, timers, count } = worked()
  gates[0]?.reject(new Error('away'))
  work.wake()
  await work.idle()
  work.postpone(new Error('away again'))
  expect([failures, timers.length]).toEqual([[new Error('away')], 1])
  gates[1]?.resolve()
  timers.shift()?.()
  await work.idle()
  expect([count(), timers.length]).toEqual([2, 0])
})

it('ends without another attempt when it is stopped', async () => {
  const { work, gates, failures, timers, count } = worked()
  work.wake()
  work.wake()
  const stopped = work.stop()
  gates[0]?.reject(new Error('closed'))
  await stopped
  work.wake()
  expect([count(), failures, timers]).toEqual([1, [], []])
})
