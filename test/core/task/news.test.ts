/** Tests that data of another node is used once: by windows, counts, changes and histories. */
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import type { Rule, Sensor } from '../../../src/core/rule/rule.ts'
import { createEngine, VirtualClock, type SavedTask, type Task } from '../../../src/index.ts'
import { sensor } from '../../support/rule-nodes.ts'

const source: Sensor = sensor('f', 'streamingDataSensor', { parameter: 't', threshold: 10 })
const reader = (name: string, properties: Record<string, unknown>, more: Partial<Sensor> = {}): Sensor => ({
  label: 'w',
  name,
  resource: '$',
  properties,
  ...more,
})
const summing = (value: string, more: Partial<Sensor> = {}) =>
  reader('windowStats', { value, statistic: 'sum', samples: 100 }, more)
const sum = summing('nodes.f.rawData.data')

type Way = 'in rows' | 'in full' | 'saved at each step'

async function begun(rule: Rule, way: Way) {
  const clock = new VirtualClock(0)
  const make = () => {
    const engine = createEngine({ plugs: builtins, scheduler: clock, seed: 1, ids: () => 't' })
    if (way === 'in full') engine.events$.subscribe(() => undefined)
    return engine
  }
  let engine = make()
  let task: Task = await engine.start(rule, { resource: 'r' })
  return {
    change: (next: Rule) => engine.change('t', next, { resource: 'r' }),
    async send(values: Record<string, unknown>) {
      clock.advanceTo(clock.now() + 1000)
      engine.receive({ resource: 'r', ...values })
      await engine.settled()
      if (way !== 'saved at each step') return
      const saved = JSON.parse(JSON.stringify(task.save())) as SavedTask
      await engine.close()
      engine = make()
      task = await engine.restore(saved)
    },
    seen: (field: string) => (task.node('w').rawData as Readonly<Record<string, unknown>> | undefined)?.[field],
  }
}

const reactive = (...sensors: Sensor[]): Rule => ({ sensors, task: { type: 'reactive' } })

/** Holds NEWS-1 */
describe.each<Way>(['in rows', 'in full', 'saved at each step'])('data of another node, %s', (way) => {
  const t20 = { t: 20 }
  const battery = { battery: 1 }
  it.each<[string, Rule, string, Record<string, unknown>[], unknown[]]>([
    [
      'is taken once by a window',
      reactive(source, sum),
      'sum',
      [t20, battery, battery, battery, t20],
      [20, 20, 20, 20, 40],
    ],
    [
      'is taken in the order of reading, whatever is declared first',
      reactive(sum, source),
      'sum',
      [t20, { t: 40 }],
      [20, 60],
    ],
    [
      'is taken by a reader of an earlier stage at its next run',
      reactive({ ...source, sequence: 2 }, { ...sum, sequence: 1 }),
      'sum',
      [t20, battery, battery, { t: 40 }, battery],
      [undefined, 20, 20, 20, 60],
    ],
    [
      'is counted once',
      reactive(source, reader('holdsFor', { condition: 'nodes.f.rawData.data > 10', count: 3 })),
      'count',
      [t20, battery, battery, t20],
      [1, 1, 1, 2],
    ],
    [
      'is compared once',
      reactive(source, reader('Function', { formula: '<f.data>[-1]', threshold: 0 })),
      'formulaValue',
      [t20, battery, { t: 30 }, battery],
      [undefined, undefined, 20, 20],
    ],
    [
      'is taken by a formula in the order of reading',
      reactive(reader('Function', { formula: '<sum(f.data)>', threshold: 0 }), source),
      'formulaValue',
      [t20, battery, { t: 30 }],
      [20, 20, 50],
    ],
    [
      'is taken with a value of the message that is new',
      reactive(source, summing('battery + nodes.f.rawData.data')),
      'sum',
      [t20, battery, battery, { t: 30, battery: 2 }],
      [undefined, 21, 42, 74],
    ],
    [
      'of a relation is taken when that is decided',
      {
        ...reactive(source, summing('nodes.g.state == "TRUE" ? 1 : 0')),
        relations: [{ label: 'g', type: 'AND', parentLabels: ['f'], combinations: [['Above']] }],
      },
      'sum',
      [t20, battery, { t: 5 }, t20],
      [1, 1, 1, 2],
    ],
  ])('%s', async (_, rule, field, messages, expected) => {
    const task = await begun(rule, way)
    const seen: unknown[] = []
    for (const message of messages) {
      await task.send(message)
      seen.push(task.seen(field))
    }
    expect(seen).toEqual(expected)
  })
})

describe('a sensor that another rule brings', () => {
  it('takes existing data', async () => {
    const task = await begun(reactive(source), 'in full')
    await task.send({ t: 20 })
    await task.change(reactive(source, sum))
    for (const expected of [20, 20]) {
      await task.send({ battery: 1 })
      expect(task.seen('sum')).toBe(expected)
    }
  })
})
