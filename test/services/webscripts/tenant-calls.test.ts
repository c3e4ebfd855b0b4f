import { describe, expect, it } from 'vitest'
import { TenantCalls, type CallLimits } from '../../../src/services/webscripts/tenant-calls.ts'
import { secondsToWait } from '../../../src/kernel/errors.ts'

const LIMITS: CallLimits = {
  takeCall: () => 0,
  mostOpen: 2,
  cpu: { perSecond: 1, most: 30 },
  cpuMs: () => 0,
  clock: () => 0,
}

/** The seconds that a refusal asks for; 0 when the call may be made. */
function waitOf(calls: TenantCalls, tenant = 'acme'): number {
  try {
    calls.admit(tenant)
    return 0
  } catch (error) {
    expect(error).toMatchObject({ code: 'RATE_LIMITED' })
    return secondsToWait(error)
  }
}

describe('calls of a tenant', () => {
  it('are so many at once, whatever another tenant does', () => {
    const calls = new TenantCalls(LIMITS)
    const first = calls.begin('acme')
    calls.begin('acme')
    expect(() => calls.begin('acme')).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }))
    expect([waitOf(calls), waitOf(calls, 'umbrella')]).toEqual([1, 0])
    calls.begin('umbrella')
    first()
    calls.begin('acme')
    expect(() => calls.begin('acme')).toThrow(/2 calls of webscripts are open/)
  })

  it('are so many in a second', () => {
    let wait = 3
    const calls = new TenantCalls({ ...LIMITS, takeCall: () => wait })
    expect(waitOf(calls)).toBe(3)
    wait = 0
    expect(waitOf(calls)).toBe(0)
  })

  it('take so much CPU time, which comes back', () => {
    const [taken, clock] = [new Map([['acme', 5_000]]), { now: 0 }]
    const calls = new TenantCalls({ ...LIMITS, cpuMs: (tenant) => taken.get(tenant) ?? 0, clock: () => clock.now })
    // what was taken before somebody looked is nobody's
    expect(waitOf(calls)).toBe(0)
    taken.set('acme', 5_000 + 30_000)
    expect(waitOf(calls)).toBe(0)
    taken.set('acme', 5_000 + 30_000 + 2_400)
    expect([waitOf(calls), waitOf(calls, 'umbrella')]).toEqual([3, 0])
    clock.now += 1_500
    expect(waitOf(calls)).toBe(1)
    clock.now += 1_000
    expect(waitOf(calls)).toBe(0)
    // no more than the most is saved up
    clock.now += 3_600_000
    expect(waitOf(calls)).toBe(0)
    taken.set('acme', 5_000 + 32_400 + 31_000)
    expect(waitOf(calls)).toBe(1)
  })

  it('lose nothing when processes are forgotten', () => {
    let taken = 20_000
    const calls = new TenantCalls({ ...LIMITS, cpuMs: () => taken })
    expect(waitOf(calls)).toBe(0)
    taken = 100
    expect(waitOf(calls)).toBe(0)
  })
})
