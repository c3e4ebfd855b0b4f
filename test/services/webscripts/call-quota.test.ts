import { describe, expect, it } from 'vitest'
import { CallQuota, type CallQuotaOptions } from '../../../src/services/webscripts/call-quota.ts'
import { secondsToWait } from '../../../src/kernel/errors.ts'

const LIMITS: CallQuotaOptions = {
  takeCall: () => 0,
  mostOpen: 2,
  cpu: { perSecond: 1, most: 30 },
  cpuMs: () => 0,
  clock: () => 0,
}

/** Returns the seconds after which to retry; 0 when the call is allowed. */
function waitOf(calls: CallQuota): number {
  try {
    calls.admit()
    return 0
  } catch (error) {
    expect(error).toMatchObject({ code: 'RATE_LIMITED' })
    return secondsToWait(error)
  }
}

describe('calls of a tenant', () => {
  it('are limited in number', () => {
    const calls = new CallQuota(LIMITS)
    const first = calls.begin()
    calls.begin()
    expect(() => calls.begin()).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }))
    expect(waitOf(calls)).toBe(1)
    first()
    calls.begin()
    expect(() => calls.begin()).toThrow(/2 calls of webscripts are open/)
  })

  it('are limited per second', () => {
    let wait = 3
    const calls = new CallQuota({ ...LIMITS, takeCall: () => wait })
    expect(waitOf(calls)).toBe(3)
    wait = 0
    expect(waitOf(calls)).toBe(0)
  })

  it('are limited in CPU time, which is restored over time', () => {
    const clock = { now: 0 }
    let taken = 5_000
    const calls = new CallQuota({ ...LIMITS, cpuMs: () => taken, clock: () => clock.now })
    // CPU time before the first call does not count
    expect(waitOf(calls)).toBe(0)
    taken = 5_000 + 30_000
    expect(waitOf(calls)).toBe(0)
    taken = 5_000 + 30_000 + 2_400
    expect(waitOf(calls)).toBe(3)
    clock.now += 1_500
    expect(waitOf(calls)).toBe(1)
    clock.now += 1_000
    expect(waitOf(calls)).toBe(0)
    // at most the maximum accumulates
    clock.now += 3_600_000
    expect(waitOf(calls)).toBe(0)
    taken = 5_000 + 32_400 + 31_000
    expect(waitOf(calls)).toBe(1)
  })

  it('keep their counts when processes are forgotten', () => {
    let taken = 20_000
    const calls = new CallQuota({ ...LIMITS, cpuMs: () => taken })
    expect(waitOf(calls)).toBe(0)
    taken = 100
    expect(waitOf(calls)).toBe(0)
  })
})
