import { expect, it } from 'vitest'
import { RateLimitedLogger } from '../../src/kernel/rate-limited-logger.ts'

function setUp() {
  const lines: unknown[] = []
  const timers: (() => void)[] = []
  const log = new RateLimitedLogger({
    write: (message, details) => void lines.push({ message, ...details }),
    after: (_ms, work) => {
      timers.push(work)
      return () => undefined
    },
  })
  return { lines, log, passWindow: () => timers.splice(0).forEach((work) => work()) }
}

it('logs the first occurrence immediately, and counts repeats within the interval', () => {
  const { lines, log, passWindow } = setUp()
  for (let n = 1; n <= 4; n++) log.log('refused', 'me', { n })
  expect(lines).toEqual([{ message: 'refused', n: 1 }])
  passWindow()
  expect(lines.slice(1)).toEqual([{ message: 'refused', n: 4, times: 3 }])
  passWindow()
  expect(lines).toHaveLength(2)
  log.log('refused', 'me', { n: 5 })
  expect(lines[2]).toEqual({ message: 'refused', n: 5 })
})

it('counts each subject separately, up to a thousand', () => {
  const { lines, log } = setUp()
  for (let n = 0; n < 3000; n++) log.log('refused', `key-${n}`, { n })
  expect(lines).toHaveLength(1001)
})
