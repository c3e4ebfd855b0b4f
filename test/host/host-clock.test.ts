/** The host's time never goes back, however the machine's clock is set. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HostClock } from '../../src/host/host-clock.ts'

const HOUR = 3_600_000

/** A machine whose clock somebody sets. */
class Machine {
  wall = Date.parse('2026-03-01T10:00:00Z')
  monotonic = 0
  readonly warned: string[] = []
  readonly clock = new HostClock(
    { error: () => undefined, warn: (text) => void this.warned.push(text) },
    { wall: () => Math.floor(this.wall), monotonic: () => this.monotonic },
  )

  pass(ms: number): number {
    this.wall += ms
    this.monotonic += ms
    return this.clock.now()
  }
}

describe('the time of a host', () => {
  it('is that of the wall clock', () => {
    const machine = new Machine()
    for (const ms of [0, 1, 999, 5 * HOUR, 0.4, 0.7]) expect(machine.pass(ms)).toBe(Math.floor(machine.wall))
    expect(machine.warned).toEqual([])
  })

  it('goes on when the wall clock is set back, a tenth slower until both are the same, and says so once', () => {
    const machine = new Machine()
    const before = machine.clock.now()
    machine.wall -= HOUR
    expect(machine.pass(10 * 60_000)).toBe(before + 9 * 60_000)
    expect(machine.pass(HOUR)).toBe(before + 63 * 60_000)
    for (let i = 0; i < 9; i += 1) machine.pass(HOUR)
    expect(machine.pass(1)).toBe(Math.floor(machine.wall))
    expect(machine.warned).toEqual([expect.stringContaining('set back by 3600 s')])
  })

  it('follows at once when the wall clock is set forward or the machine slept', () => {
    const machine = new Machine()
    machine.wall += HOUR
    expect(machine.pass(5)).toBe(machine.wall)
    expect(machine.warned).toEqual([expect.stringContaining('went forward by 3600 s')])
  })

  it('HOSTCLOCK-1 to HOSTCLOCK-3: never goes back, never stands still, and is never behind', () => {
    const step = fc.record({ pass: fc.integer({ min: 0, max: HOUR }), set: fc.integer({ min: -HOUR, max: HOUR }) })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const machine = new Machine()
        let last = machine.clock.now()
        for (const { pass, set } of steps) {
          machine.wall += set
          const now = machine.pass(pass)
          expect(now).toBeGreaterThanOrEqual(last + Math.floor(pass * 0.9) - 1)
          expect(now).toBeGreaterThanOrEqual(Math.floor(machine.wall))
          last = now
        }
      }),
    )
  })
})
