import { afterEach, describe, expect, it, vi } from 'vitest'
import { createEngine } from '../../src/index.ts'
import { LiveScheduler } from '../../src/platform/live-scheduler.ts'
import { builtins } from '../../plugins/index.ts'

/** A scheduler that uses the test's clock as the machine's. */
async function onClock() {
  const clock = vi.spyOn(Date, 'now').mockReturnValue(1000)
  vi.resetModules()
  const { LiveScheduler: Own } = await import('../../src/platform/live-scheduler.ts')
  clock.mockClear()
  return { clock, scheduler: new Own() }
}

afterEach(() => {
  vi.restoreAllMocks()
})

// Holds LIVETIME-1
describe('the clock of an engine that runs live', () => {
  it('is read at least every 16th call', async () => {
    const { clock, scheduler } = await onClock()
    for (let i = 0; i < 32 + 16 * 10; i++) scheduler.now()
    expect(clock).toHaveBeenCalledTimes(32 + 10)
  })

  it('is read on each call until 32 readings were equal', async () => {
    const { clock, scheduler } = await onClock()
    for (let i = 0; i < 31; i++) scheduler.now()
    clock.mockReturnValue(1001)
    for (let i = 0; i < 31; i++) expect(scheduler.now()).toBe(1001)
    clock.mockReturnValue(1002)
    expect(scheduler.now()).toBe(1002)
  })

  it('is stale for 15 calls at most, and read on each call after that', async () => {
    const { clock, scheduler } = await onClock()
    for (let i = 0; i < 32; i++) scheduler.now()
    clock.mockReturnValue(5000)
    expect(Array.from({ length: 16 }, () => scheduler.now())).toEqual([...Array<number>(15).fill(1000), 5000])
    clock.mockReturnValue(6000)
    expect(scheduler.now()).toBe(6000)
  })

  it('is read again in each turn of the event loop', async () => {
    const { clock, scheduler } = await onClock()
    for (let turn = 0; turn < 3; turn++) {
      for (let i = 0; i < 40; i++) scheduler.now()
      clock.mockReturnValue(2000 + turn)
      await Promise.resolve()
      expect(scheduler.now()).toBe(2000 + turn)
    }
  })
})

// Holds LIVETIME-2
describe('a clock injected in place of the machine’s', () => {
  it('is read on each call', () => {
    const clock = vi.spyOn(Date, 'now').mockReturnValue(1000)
    const scheduler = new LiveScheduler()
    for (let i = 0; i < 1000; i++) scheduler.now()
    expect(clock).toHaveBeenCalledTimes(1000)
    clock.mockReturnValue(7000)
    expect(scheduler.now()).toBe(7000)
  })

  it('drives the cool-down of an engine that was created with plugs only', async () => {
    const clock = vi.spyOn(Date, 'now').mockReturnValue(1000)
    const engine = createEngine({ plugs: builtins })
    const task = await engine.start(
      {
        sensors: [
          {
            label: 'hot',
            name: 'streamingDataSensor',
            resource: '$',
            properties: { parameter: 'temperature', threshold: 90 },
          },
        ],
        actuators: [{ label: 'alarm', name: 'log', properties: { message: 'hot' } }],
        triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'], invocationPolicy: 600 }],
      },
      { resource: 'boiler-1' },
    )
    const send = (count: number) => {
      for (let i = 0; i < count; i++) engine.receive({ resource: 'boiler-1', temperature: 93 })
    }
    send(100)
    clock.mockReturnValue(1000 + 600_000)
    send(1)
    expect(engine.explain(task.id, 'alarm').fired?.time).toBe(601_000)
    await engine.close()
  })
})

describe('the timers of an engine that runs live', () => {
  it('are those of the machine', async () => {
    const done = new Promise<number>((resolve) => new LiveScheduler().schedule((state) => resolve(state ?? 0), 1, 5))
    expect(await done).toBe(5)
  })
})
