/** What the console knows about the host: its clock, whether it answers, and when it is back. */
import type * as Connection from '../../src/console/connection.ts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const START = Date.parse('2026-01-15T10:00:00Z')
const MINUTE = 60_000

const answer = (status: number, time = Date.now()) =>
  new Response(null, { status, headers: { date: new Date(time).toUTCString() } })

let connection: typeof Connection
let stop: () => void
const probe = vi.fn<() => Promise<Response>>()

beforeEach(async () => {
  vi.useFakeTimers({ now: START })
  vi.resetModules()
  connection = await import('../../src/console/connection.ts')
  probe.mockReset()
  stop = connection.startClock(probe)
})
afterEach(() => {
  stop()
  vi.useRealTimers()
})

describe('the clock', () => {
  it.each([10, -10])('follows a host that is %i minutes ahead', (minutes) => {
    connection.noteAnswer(answer(200, START + minutes * MINUTE))
    expect(connection.now.value).toBe(START + minutes * MINUTE)
    vi.advanceTimersByTime(5_000)
    expect(connection.now.value).toBe(START + minutes * MINUTE + 5_000)
  })

  it('ignores the rounding of the header', () => {
    connection.noteAnswer(answer(200, START - 900))
    expect(connection.now.value).toBe(START)
  })
})

describe('a lost connection', () => {
  it('is stated after two seconds, tried again after growing pauses, and reloads when it is back', async () => {
    probe.mockRejectedValue(new Error('offline'))
    connection.noteFailure()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(connection.lost.value).toBeNull()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(connection.lost.value).toMatchObject({ since: START, isBusy: false })
    await vi.advanceTimersByTimeAsync(28_000)
    expect(probe.mock.calls.length).toBeLessThan(8)
    probe.mockResolvedValue(answer(200))
    await vi.advanceTimersByTimeAsync(16_000)
    expect(connection.lost.value).toBeNull()
    expect(connection.restored.value).toBe(1)
    expect(connection.gap.value).toMatchObject({ from: START })
  })

  it('is of a busy host while health answers 503', async () => {
    probe.mockImplementation(async () => answer(503))
    connection.noteAnswer(answer(503))
    await vi.advanceTimersByTimeAsync(3_000)
    expect(connection.lost.value).toMatchObject({ isBusy: true })
  })

  it('is not stated when one route answers 503 and the host is well, and does not reload in a loop', async () => {
    probe.mockImplementation(async () => answer(200))
    connection.noteAnswer(answer(503))
    await vi.advanceTimersByTimeAsync(10_000)
    expect(connection.lost.value).toBeNull()
    expect(connection.restored.value).toBe(0)
  })
})
