/** Tests readings that arrived after a newer one, for plugs that absorb them. */
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../../plugins/index.ts'
import { createEngine, VirtualClock, type Rule, type SavedTask, type Task } from '../../../../src/index.ts'
import { sensorPlug } from '../../../support/make-plug.ts'

/** Shows the readings passed to it, and fails if a message requests it. */
const watch = sensorPlug('watch', ['Seen'], {
  absorbs: 'late',
  execute: (context) => {
    const { late, internalState } = context
    if (context.streamValue('fails') === true) throw new Error('as the message says')
    const seen = [...((internalState ?? []) as unknown[]), ...late.map(({ v }) => v)]
    return { state: 'Seen', internalState: seen, rawData: { seen } }
  },
})
const rule = (name: string, properties: Record<string, unknown>, late: 'drop' | 'take' = 'drop'): Rule => ({
  sensors: [{ label: 's', name, resource: '$', properties }],
  task: { type: 'reactive', late },
})
const SUM = { value: 'v', samples: 100, statistic: 'sum' }
const START = 1_000_000

type Step = readonly [at: number, values: Record<string, unknown>]
type Way = 'in rows' | 'in full' | 'saved at each step'

/** Sends readings, a second apart, and shows a field of the sensor after each. */
async function played(given: Rule, steps: readonly Step[], field: string, way: Way) {
  const clock = new VirtualClock(START)
  const make = () => {
    const engine = createEngine({ plugs: [...builtins, watch], scheduler: clock, seed: 1, ids: () => 't' })
    if (way === 'in full') engine.events$.subscribe(() => undefined)
    return engine
  }
  let engine = make()
  let task: Task = await engine.start(given, { resource: 'r' })
  const seen: unknown[] = []
  for (const [at, values] of steps) {
    clock.advanceTo(clock.now() + 1000)
    engine.receive({ resource: 'r', timestamp: START + at, ...values })
    await engine.settled()
    seen.push((task.node('s').rawData as Readonly<Record<string, unknown>> | undefined)?.[field])
    if (way !== 'saved at each step') continue
    const saved = JSON.parse(JSON.stringify(task.save())) as SavedTask
    await engine.close()
    engine = make()
    task = await engine.restore(saved)
  }
  const { health } = task.info()
  await engine.close()
  return { seen, late: health.late }
}

// Holds ABSORB-1
describe.each<Way>(['in rows', 'in full', 'saved at each step'])('a late reading, %s', (way) => {
  it('counts in a window from the next run on, once', async () => {
    const steps: Step[] = [
      [100, { v: 1 }],
      [300, { v: 4 }],
      [200, { v: 2 }],
      [200, { v: 2 }],
      [200, { v: 'none' }],
      [400, { v: 8 }],
      [500, { v: 16 }],
    ]
    expect(await played(rule('windowStats', SUM), steps, 'sum', way)).toEqual({
      seen: [1, 5, 5, 5, 5, 15, 31],
      late: 3,
    })
  })

  it('is passed to calls until one succeeds', async () => {
    const steps: Step[] = [
      [100, { v: 1 }],
      [50, { v: 2 }],
      [200, { v: 3, fails: true }],
      [60, { v: 4 }],
      [300, { v: 5, fails: false }],
      [400, { v: 6 }],
    ]
    const { seen } = await played(rule('watch', {}), steps, 'seen', way)
    expect(seen).toEqual([[], [], [], [], [2, 4], [2, 4]])
  })

  it('is accepted alone if the rule accepts late readings', async () => {
    const steps: Step[] = [
      [300, { v: 4 }],
      [200, { v: 2 }],
    ]
    expect((await played(rule('windowStats', SUM, 'take'), steps, 'sum', way)).seen).toEqual([4, 6])
  })

  it('is kept up to a limit of a hundred', async () => {
    const late = Array.from({ length: 120 }, (_, v): Step => [v, { v }])
    const { seen } = await played(rule('watch', {}), [[500, { v: 0 }], ...late, [600, { v: 0 }]], 'seen', way)
    expect(seen.at(-1)).toHaveLength(100)
  })
})
