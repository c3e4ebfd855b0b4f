/** One evaluation per message, in rows as on full states: what fires, when, and by which triggers. */
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import type { CoreEngine } from '../../../src/core/engine/engine.ts'
import type { LiveTask } from '../../../src/core/engine/live-task.ts'
import type { Rule, Trigger } from '../../../src/core/rule/rule.ts'
import { createEngine, definePlug, VirtualClock } from '../../../src/index.ts'
import { generatorHere } from '../../../src/platform/generate.ts'
import { scale } from '../../support/scale-plug.ts'

type Values = Readonly<Record<string, unknown>>

const sensor = (label: string) => {
  return { label, resource: 'r', name: 'streamingDataSensor', properties: { parameter: label, threshold: 10 } }
}

/** Of sensors with the names of the values that they compare with 10, and an OR over all of them. */
function ruleOf(labels: readonly string[], triggers: readonly Partial<Trigger>[], task: Rule['task'] = {}): Rule {
  return {
    sensors: labels.map(sensor),
    relations: [{ label: 'any', type: 'OR', parentLabels: labels, combinations: [labels.map(() => 'Above')] }],
    actuators: [{ label: 'act', name: 'act' }],
    triggers: triggers.map((trigger) => ({ sourceLabel: 'any', destinationLabel: 'act', ...trigger })),
    task,
  }
}

interface Ways {
  isPlain: boolean
  generates: boolean
  /** after each message, or within some calls */
  looks: 'never' | 'after each' | 'within'
  /** to what fires and what is held back */
  listens: boolean
}

/** The messages, one a minute, at which the actuator acts, with what is told of it. */
async function played(rule: Rule, messages: readonly Values[], { isPlain, generates, looks, listens }: Ways) {
  const clock = new VirtualClock(0)
  const seen: string[] = []
  let at = 0
  const acted: number[] = []
  const look = () => void seen.push(JSON.stringify([task.save(), engine.explain('t', 'act')]))
  const execute = () => {
    acted.push(at)
    if (looks === 'within' && acted.length % 4 === 0) look()
  }
  const act = definePlug({ name: 'act', version: '1.0.0', kind: 'actuator', execute })
  const generate = generates ? (generatorHere() as never) : (undefined as never)
  const plugs = [...builtins, act, scale]
  const engine = createEngine({ plugs, scheduler: clock, seed: 1, generate, ...(isPlain && { latency: () => 0 }) })
  if (listens) engine.events({ types: ['fired', 'held'] }).subscribe((event) => seen.push(JSON.stringify(event)))
  const task = (await engine.start(rule, { id: 't' })) as LiveTask
  for (const values of messages) {
    clock.advanceTo(60_000 * at)
    engine.receive({ resource: 'r', ...values })
    if (looks === 'after each') look()
    at++
  }
  const { rows, vectorized } = engine.stats()
  look()
  seen.push(JSON.stringify((engine as CoreEngine).counts))
  await engine.close()
  return { acted, seen, taken: rows + vectorized }
}

/** The same in rows, with generated code and without, whenever somebody looks; the first message makes the row. */
async function acting(rule: Rule, messages: readonly Values[], listens = true): Promise<readonly number[]> {
  let acted: readonly number[] = []
  for (const looks of ['after each', 'within', 'never'] as const) {
    const plain = await played(rule, messages, { isPlain: true, generates: true, looks, listens })
    for (const generates of [true, false]) {
      const rows = await played(rule, messages, { isPlain: false, generates, looks, listens })
      expect({ acted: rows.acted, seen: rows.seen }).toEqual({ acted: plain.acted, seen: plain.seen })
      if (looks !== 'within') expect(rows.taken).toBe(messages.length - 1)
    }
    acted = plain.acted
  }
  return acted
}

const of = (values: readonly number[]): readonly Values[] => values.map((a) => ({ a }))
const SETTINGS = [{ resetObservations: true }, { resetObservations: false }]
const EDGES = of([1, 20, 30, 1, 2, 20, 1, 20, 20, 1])

describe('a row', () => {
  it.each(SETTINGS)('fires an OR of three sensors once a message: %j', async (task) => {
    const rule = ruleOf(['a', 'b', 'c'], [{ statesTrigger: ['TRUE'] }], task)
    const low = { a: 1, b: 1, c: 1 }
    const acted = await acting(rule, [low, low, { a: 90, b: 1, c: 1 }, { a: 90, b: 90, c: 90 }, low])
    expect(acted).toEqual([2, 3])
  })

  it.each(SETTINGS)('fires once where an episode begins: %j', async (task) => {
    expect(await acting(ruleOf(['a'], [{ begins: ['TRUE'] }], task), EDGES)).toEqual([1, 5, 7])
  })

  it.each(SETTINGS)('fires once where it ends: %j', async (task) => {
    expect(await acting(ruleOf(['a'], [{ ends: ['TRUE'] }], task), EDGES)).toEqual([3, 6, 9])
  })

  it.each(SETTINGS)('fires at both, by one trigger: %j', async (task) => {
    const rule = ruleOf(['a'], [{ begins: ['TRUE'], ends: ['TRUE'] }], task)
    expect(await acting(rule, EDGES)).toEqual([1, 3, 5, 6, 7, 9])
  })

  it('fires an edge when its cool-down is over, unless it was undone', async () => {
    const rule = ruleOf(['a'], [{ begins: ['TRUE'], invocationPolicy: 150 }])
    // undone at 5; at 7 it begins again, and may fire at 8
    expect(await acting(rule, of([1, 1, 20, 1, 20, 1, 1, 20, 20, 20]))).toEqual([2, 7])
    expect(await acting(rule, of([1, 1, 20, 1, 20, 20, 20, 20, 1, 20]))).toEqual([2, 5, 9])
  })

  it('keeps edges of what a message does not run', async () => {
    const rule = ruleOf(
      ['a', 'b'],
      [
        { sourceLabel: 'a', begins: ['Above'] },
        { sourceLabel: 'b', ends: ['Above'] },
      ],
    )
    const whole = { a: 1, b: 1 }
    const parts = [{ a: 20 }, { b: 20 }, { a: 30 }, { b: 1 }, { a: 30 }, { a: 1 }, { b: 1 }, { a: 30 }]
    expect(await acting(rule, [whole, whole, ...parts], false)).toEqual([2, 5, 9])
  })

  it('fires by the trigger whose cool-down has passed, and all count from there', async () => {
    const cool = (sourceLabel: string, invocationPolicy: number) => {
      return { sourceLabel, invocationPolicy, statesTrigger: sourceLabel === 'any' ? ['TRUE'] : ['Above'] }
    }
    const rule = ruleOf(['a'], [cool('any', 3600), cool('a', 120), cool('any', 600)])
    expect(await acting(rule, of([1, 1, 20, 20, 20, 20, 1, 20]))).toEqual([2, 4, 7])
  })

  it('fires actuators by sensors and by gates above them, whoever looks between', async () => {
    const rule = ruleOf(['a', 'b'], [{ statesTrigger: ['TRUE'] }, { sourceLabel: 'a', destinationLabel: 'early' }])
    const relations = [
      ...(rule.relations ?? []),
      { label: 'all', type: 'AND' as const, parentLabels: ['any', 'b'], combinations: [['TRUE', 'Above']] },
    ]
    const actuators = [...(rule.actuators ?? []), ...['early', 'late'].map((label) => ({ label, name: 'act' }))]
    const triggers = [
      ...(rule.triggers ?? []),
      { sourceLabel: 'all', destinationLabel: 'late', stateChangeTrigger: { stateFrom: 'FALSE', stateTo: 'TRUE' } },
    ]
    const messages = [1, 2, 30, 4, 50, 60].map((a, i) => ({ a, b: i % 2 === 0 ? 20 : 1 }))
    const acted = await acting({ ...rule, relations, actuators, triggers }, messages)
    expect(acted).toEqual([0, 0, 1, 2, 2, 2, 3, 4, 4, 4, 5, 5])
  })
})
