/** Tests tasks whose log is ahead of the clock: they keep their own time, and lose the lead without going back. */
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../../src/index.ts'
import { LeadingClock } from '../../../../src/services/rules/durable/leading-clock.ts'

const START = Date.parse('2026-03-01T10:00:00Z')
const HOUR = 3_600_000

describe("the clock of a tenant's tasks", () => {
  it('equals the clock of the host unless the log is ahead', () => {
    const host = new VirtualClock(START)
    const clock = new LeadingClock(host)
    clock.atLeast(START - HOUR)
    for (const ms of [1, 999, HOUR]) {
      host.advanceTo(host.now() + ms)
      expect(clock.now()).toBe(host.now())
    }
    expect(clock.leadMs).toBe(0)
  })

  it('continues from the newest time of the log, a tenth slower until both are equal', () => {
    const host = new VirtualClock(START)
    const clock = new LeadingClock(host)
    clock.atLeast(START + HOUR)
    expect(clock.leadMs).toBe(HOUR)
    host.advanceTo(START + HOUR)
    expect(clock.now()).toBe(START + HOUR + 0.9 * HOUR)
    host.advanceTo(START + 10 * HOUR)
    expect([clock.now(), clock.leadMs]).toEqual([START + 10 * HOUR, 0])
  })

  it('does not go back with the clock of the host', () => {
    let now = START
    const clock = new LeadingClock({ now: () => now, schedule: () => expect.fail('nothing is scheduled') })
    now -= HOUR
    expect(clock.now()).toBe(START)
    now += 10
    expect([clock.now(), clock.leadMs]).toEqual([START + 9, HOUR - 1])
  })
})
