import { afterEach, describe, expect, it, vi } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { PackedState } from '../../../src/core/task/packed-state.ts'
import { createEngine, definePlug, VirtualClock, type Rule } from '../../../src/index.ts'

const LABELS = ['a', 'b', 'both', 'act']
const RULE: Rule = {
  sensors: ['a', 'b'].map((parameter) => {
    return { label: parameter, resource: 'r', name: 'streamingDataSensor', properties: { parameter, threshold: 10 } }
  }),
  relations: [{ label: 'both', type: 'AND', parentLabels: ['a', 'b'], combinations: [['Above', 'Above']] }],
  actuators: [{ label: 'act', name: 'act' }],
  triggers: [{ sourceLabel: 'both', destinationLabel: 'act', statesTrigger: ['TRUE'] }],
}

const act = definePlug({ name: 'act', version: '1.0.0', kind: 'actuator', execute: () => undefined })
const newEngine = () => createEngine({ plugs: [...builtins, act], scheduler: new VirtualClock(0), seed: 1 })

describe('all nodes of a task', () => {
  afterEach(() => void vi.restoreAllMocks())

  it('equal the views of single nodes, in the order of the rule', async () => {
    const engine = newEngine()
    const task = await engine.start(RULE)
    engine.receive({ resource: 'r', a: 30, b: 5 })
    expect(task.nodes().map(({ node }) => node)).toEqual(LABELS)
    expect(task.nodes()).toEqual(LABELS.map((label) => task.node(label)))
  })

  it('have no most likely state before any of their sources is observed', async () => {
    const engine = newEngine()
    const task = await engine.start(RULE)
    const likely = () => task.nodes().map(({ mostLikelyState }) => mostLikelyState)
    expect(likely()).toEqual([null, null, null, null])
    expect(task.node('a').states).toEqual({ Below: 1 / 3, Equal: 1 / 3, Above: 1 / 3 })
    engine.receive({ resource: 'r', a: 30 })
    expect(likely()).toEqual([
      { state: 'Above', probability: 1 },
      null,
      { state: 'FALSE', probability: 1 - 1 / 3 },
      null,
    ])
  })

  it('unpack the state of a packed task once', async () => {
    const before = newEngine()
    const first = await before.start(RULE, { id: 'first' })
    before.receive({ resource: 'r', a: 30, b: 5 })
    const saved = first.save()
    const engine = newEngine()
    // The shape is known then, and the next state of that shape stays packed.
    await engine.restore(saved)
    const task = await engine.restore({ ...saved, id: 'second' })
    const restore = vi.spyOn(PackedState.prototype, 'restore')
    const views = task.nodes()
    expect(restore).toHaveBeenCalledTimes(1)
    expect(views).toEqual(LABELS.map((label) => task.node(label)))
  })
})
