/** Tests that the host's time never goes back, however the machine's clock is set. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CONFIRM_MS, HostClock, MAX_LEAD_MS } from '../../src/host/host-clock.ts'

const HOUR = 3_600_000

/** Machine whose clock the test can set. */
class Machine {
  wall = Date.parse('2026-03-01T10:00:00Z')
  monotonic = 0
  readonly warned: string[] = []
  readonly clock: HostClock

  constructor(confirmation?: 'monotonic' | 'database') {
    this.clock = new HostClock(
      { error: () => undefined, warn: (text) => void this.warned.push(text) },
      { wall: () => Math.floor(this.wall), monotonic: () => this.monotonic },
      confirmation,
    )
  }

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

  it('continues a tenth slower when the wall clock is set back, until both agree, and reports it once', () => {
    const machine = new Machine()
    const before = machine.clock.now()
    machine.wall -= HOUR
    expect(machine.pass(10 * 60_000)).toBe(before + 9 * 60_000)
    expect(machine.pass(HOUR)).toBe(before + 63 * 60_000)
    for (let i = 0; i < 9; i += 1) machine.pass(HOUR)
    expect(machine.pass(1)).toBe(Math.floor(machine.wall))
    expect(machine.warned).toEqual([expect.stringContaining('set back by 3600 s')])
  })

  it('follows at once when the wall clock is set forward by up to a minute', () => {
    const machine = new Machine()
    machine.wall += MAX_LEAD_MS
    expect(machine.pass(5)).toBe(machine.wall)
    expect(machine.warned).toEqual([expect.stringContaining('moved forward by 60 s')])
  })

  // Holds HOSTCLOCK-4
  it('follows a larger step, or a sleep of the machine, when that has lasted for ten seconds', () => {
    const machine = new Machine()
    const before = machine.clock.now()
    machine.wall += HOUR
    expect(machine.pass(CONFIRM_MS - 1)).toBe(before + CONFIRM_MS - 1)
    expect(machine.clock.unconfirmedMs).toBe(HOUR)
    expect(machine.clock.warnings()).toEqual([
      'the clock of the machine moved forward by 3600 s, which a wait of 10 s has not confirmed: this host does not follow it; correct the clock, or run reflexarc clock --follow',
    ])
    expect(machine.pass(CONFIRM_MS)).toBe(machine.wall)
    expect(machine.clock.warnings()).toEqual([])
    expect(machine.warned).toEqual([
      expect.stringContaining('this host follows once a wait of 10 s has confirmed it'),
      expect.stringContaining('moved forward by 3600 s'),
    ])
  })

  // Holds HOSTCLOCK-4
  it('follows a larger step in a cluster when the clock of the database says the same, however long it lasts', () => {
    const machine = new Machine('database')
    const before = machine.clock.now()
    machine.wall += HOUR
    expect(machine.pass(CONFIRM_MS)).toBe(before + CONFIRM_MS)
    machine.clock.compared(before + CONFIRM_MS)
    expect(machine.pass(HOUR)).toBe(before + CONFIRM_MS + HOUR)
    machine.clock.compared(machine.wall - 500)
    expect(machine.pass(1)).toBe(machine.wall)
  })

  // Holds HOSTCLOCK-5
  it('continues from what is stored, at most a minute ahead of the wall clock', () => {
    const machine = new Machine()
    machine.clock.atLeast(machine.wall + 30_000)
    expect(machine.clock.now()).toBe(machine.wall + 30_000)
    machine.clock.atLeast(machine.wall + HOUR)
    expect(machine.clock.now()).toBe(machine.wall + MAX_LEAD_MS)
    expect(machine.warned).toEqual([
      expect.stringContaining('are 30 s ahead of the clock of the machine: the time of this host continues from there'),
      expect.stringContaining('the time of this host is at most 60 s ahead, and the affected tasks'),
    ])
  })

  it('follows the wall clock on request of the operator, and reports its lead until then', () => {
    const machine = new Machine()
    machine.wall += HOUR
    machine.pass(1)
    machine.pass(CONFIRM_MS)
    machine.wall -= HOUR
    machine.pass(1)
    expect(machine.clock.warnings()).toEqual([
      expect.stringContaining(
        'the time of this host is 3600 s ahead of the clock of the machine; it runs a tenth slower',
      ),
    ])
    expect(Math.round(machine.clock.leadMs / 1_000)).toBe(3_600)
    expect(Math.round(machine.clock.follow() / 1_000)).toBe(-3_600)
    expect(machine.clock.now()).toBe(machine.wall)
    machine.wall += HOUR
    machine.clock.now()
    expect(machine.clock.follow()).toBe(HOUR)
    expect(machine.clock.now()).toBe(machine.wall)
    expect(machine.warned.at(-1)).toContain('it moved forward by 3600 s')
  })

  it('HOSTCLOCK-1 to HOSTCLOCK-3: never goes back, never stalls, and is never behind', () => {
    const step = fc.record({ pass: fc.integer({ min: 0, max: HOUR }), set: fc.integer({ min: -HOUR, max: HOUR }) })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const machine = new Machine()
        let last = machine.clock.now()
        for (const { pass, set } of steps) {
          machine.wall += set
          const now = machine.pass(pass)
          expect(now).toBeGreaterThanOrEqual(last + Math.floor(pass * 0.9) - 1)
          expect(now).toBeGreaterThanOrEqual(Math.floor(machine.wall) - machine.clock.unconfirmedMs - 1)
          last = now
        }
      }),
    )
  })
})
