/** Somebody sets the machine's clock: tasks by the clock go on, also when the host starts again meanwhile, and what is wrong for a moment stays there. */
import { describe, expect, it } from 'vitest'
import { HostClock } from '../../src/host/host-clock.ts'
import { VirtualClock, type Rule } from '../../src/index.ts'
import { openDurableRunner, type DurableRunner } from '../../src/services/rules/durable/durable-runner.ts'
import type { Storage } from '../../src/storage/contract.ts'
import { MemoryDisk } from '../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../src/storage/memory/open-memory.ts'
import { Outside, runnableOf } from '../services/rules/durable/support/lives.ts'

const HOUR = 3_600_000
const START = Date.parse('2026-03-01T10:00:00Z')
const RULE: Rule = { sensors: [{ label: 'ticks', name: 'count', resource: 'boiler' }] }
const TASKS = [
  runnableOf('periodic', RULE, { type: 'periodic', frequency: 60_000 }),
  runnableOf('cron', RULE, { type: 'scheduled', cron: '0 * * * * ?' }),
]

/** A machine whose time passes by hand and whose clock somebody sets; the disk outlives its hosts. */
class Machine {
  /** how far the wall clock is from what it would be */
  setBy = 0
  readonly warned: string[] = []
  readonly #time = new VirtualClock(START)
  readonly #disk = new MemoryDisk()

  get trueTime(): number {
    return this.#time.now()
  }

  host(): DurableRunner & { readonly storage: Storage; readonly clock: HostClock } {
    const logger = { warn: (text: string) => void this.warned.push(text), error: () => undefined }
    const clock = new HostClock(logger, {
      wall: () => this.#time.now() + this.setBy,
      monotonic: () => this.#time.now(),
    })
    const storage = openMemory({ disk: this.#disk })
    const runner = openDurableRunner({
      store: storage.tenant('acme'),
      plugs: () => new Outside().plugs,
      scheduler: { now: clock.now, schedule: this.#time.schedule.bind(this.#time) },
      reached: clock.atLeast,
    })
    return Object.assign(runner, { storage, clock })
  }

  async pass(ms: number): Promise<void> {
    const end = this.#time.now() + ms
    for (let at = this.#time.nextAt(); at !== undefined && at <= end; at = this.#time.nextAt()) {
      this.#time.advanceTo(at)
      await new Promise((resolve) => void setImmediate(resolve))
    }
    this.#time.advanceTo(end)
  }
}

async function begin(runner: DurableRunner): Promise<void> {
  for (const task of TASKS) await (await runner.plan({ kind: 'begin', task })).apply()
}

function ticks(runner: DurableRunner): readonly number[] {
  return TASKS.map(({ id }) => {
    const [node] = runner.nodes.view(id, 'ticks')
    return (node?.rawData as { readonly seen?: number } | undefined)?.seen ?? 0
  })
}

describe('a wall clock that is wrong', () => {
  it('by ten days for three seconds does not affect the time of the host and its tasks', async () => {
    const machine = new Machine()
    const runner = machine.host()
    await begin(runner)
    await machine.pass(10 * 60_000)
    machine.setBy = 240 * HOUR
    for (let second = 0; second < 3; second++) {
      await machine.pass(1_000)
      expect(runner.clock.now()).toBeLessThanOrEqual(machine.trueTime)
    }
    machine.setBy = 0
    const before = ticks(runner)
    await machine.pass(10 * 60_000)
    for (const [i, count] of ticks(runner).entries()) expect(count - (before[i] ?? 0)).toBeOneOf([9, 10, 11])
    expect([runner.clock.leadMs, runner.leadMs]).toEqual([0, 0])
    await runner.close()
  })

  it('for long enough to be accepted moves the next host at most a minute ahead, and tasks continue', async () => {
    const machine = new Machine()
    const first = machine.host()
    await begin(first)
    machine.setBy = HOUR
    await machine.pass(10 * 60_000)
    await first.close()
    await first.storage.close()
    machine.setBy = 0
    const second = machine.host()
    await second.resume(TASKS)
    const before = ticks(second)
    expect(second.clock.now() - machine.trueTime).toBe(60_000)
    expect(Math.round(second.leadMs / 60_000)).toBe(59)
    await machine.pass(20 * 60_000)
    for (const [i, count] of ticks(second).entries()) expect(count - (before[i] ?? 0)).toBeGreaterThanOrEqual(17)
    expect(second.clock.now()).toBe(machine.trueTime)
    await second.close()
  })
})

describe('a wall clock that is set back by an hour', () => {
  it('does not stop scheduled tasks, and is reported', async () => {
    const machine = new Machine()
    const runner = machine.host()
    await begin(runner)
    await machine.pass(10 * 60_000)
    const before = ticks(runner)
    machine.setBy = -HOUR
    await machine.pass(20 * 60_000)
    for (const [i, count] of ticks(runner).entries()) expect(count - (before[i] ?? 0)).toBeGreaterThanOrEqual(17)
    expect(machine.warned).toEqual([expect.stringContaining('set back by 3600 s')])
    await runner.close()
  })

  it('does not stop them when the host is started again meanwhile', async () => {
    const machine = new Machine()
    const first = machine.host()
    await begin(first)
    await machine.pass(10 * 60_000)
    const before = ticks(first)
    await first.close()
    await first.storage.close()
    machine.setBy = -HOUR
    const second = machine.host()
    await second.resume(TASKS)
    await machine.pass(20 * 60_000)
    for (const [i, count] of ticks(second).entries()) expect(count - (before[i] ?? 0)).toBeGreaterThanOrEqual(17)
    expect(machine.warned).toEqual([expect.stringContaining('ahead of the clock of the machine')])
    await second.close()
  })
})
