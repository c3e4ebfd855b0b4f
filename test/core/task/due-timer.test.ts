import { describe, expect, it } from 'vitest'
import { Clocks } from '../../../src/core/engine/clocks.ts'
import { buildModel, limitsOf } from '../../../src/core/engine/model.ts'
import { Preparer } from '../../../src/core/engine/prepare.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import { earliestDue } from '../../../src/core/task/due-timer.ts'
import { begin } from '../../../src/core/task/execution.ts'
import { SILENT, type TaskRun } from '../../../src/core/task/run.ts'
import type { Answer } from '../../../src/core/plug/result.ts'
import type { Execution, Follow, SensorState } from '../../../src/core/task/state.ts'
import { TaskState } from '../../../src/core/task/task-state.ts'
import { on, rule } from '../../support/rule-writing.ts'
import { ScriptedPlugs } from '../../support/scripted-plugs.ts'

const ORIGIN = { kind: 'run', time: 0, node: 'a' } as const
const ANSWER: Answer = {
  ok: true,
  state: 1,
  rawData: undefined,
  internalState: undefined,
  message: undefined,
  after: undefined,
  then: undefined,
}

/** A task of the sensors a and b, and of the actuator c. */
function task() {
  const parts = rule({ sensors: { a: on('switch'), b: on('switch') }, actuators: ['c'] })
  const prepared = new Preparer(createRegistry(new ScriptedPlugs().plugs)).prepare(parts)
  const model = buildModel('t', prepared, ['r'], 0, limitsOf({}), new Clocks())
  const state = new TaskState(model.graph, model.resources.length)
  const run: TaskRun = { model, state, sink: SILENT, now: 0, at: 0 }
  const { graph } = model
  const nodes = { a: graph.sensors[0], b: graph.sensors[1], c: graph.actuators[0] }
  const sensor = (slot: number): SensorState => state.sensors[slot] as SensorState
  const waits = (label: keyof typeof nodes, phase: Execution['phase'], wakeAt: number) => {
    const node = nodes[label]
    if (node === undefined) throw new Error(`there is no ${label}`)
    Object.assign(begin(run, node, 1, ORIGIN, null, null), { phase, wakeAt })
  }
  const follows = (slot: number, at: number) => {
    const follow: Follow = { at, answer: ANSWER, invocation: 1, origin: ORIGIN, via: null }
    sensor(slot).follow = follow
  }
  const due = (until: number) => {
    const found = earliestDue(run, until)
    return found && `${found.at} ${found.kind} ${found.key}`
  }
  return { run, sensor, waits, follows, due }
}

describe('the timer of a task that is due next', () => {
  it('is none before the task had anything to do, and none of later', () => {
    const t = task()
    expect(t.due(1e9)).toBeUndefined()
    expect(t.run.state.work).toBeNull()
    t.sensor(0).evictAt = 501
    expect([t.due(500), t.due(501)]).toEqual([undefined, '501 evict 0'])
  })

  it.each<[string, (t: ReturnType<typeof task>) => void, string]>([
    ['the earlier of two evictions', (t) => ((t.sensor(0).evictAt = 300), (t.sensor(1).evictAt = 200)), '200 evict 1'],
    [
      'an earlier wait before an eviction',
      (t) => ((t.sensor(0).evictAt = 300), t.waits('b', 'holding', 200)),
      '200 wake 1',
    ],
  ])('is the earliest: %s', (_, set, expected) => {
    const t = task()
    set(t)
    expect(t.due(1000)).toBe(expected)
  })

  it('is at one time an eviction, then what follows a result, then a wait, each by place of the node', () => {
    const t = task()
    t.waits('c', 'holding', 200)
    t.waits('b', 'paused', 200)
    t.waits('a', 'holding', 200)
    t.follows(1, 200)
    t.follows(0, 200)
    t.sensor(1).evictAt = 200
    t.sensor(0).evictAt = 200
    const over: (() => void)[] = [
      () => (t.sensor(0).evictAt = Infinity),
      () => (t.sensor(1).evictAt = Infinity),
      () => (t.sensor(0).follow = null),
      () => (t.sensor(1).follow = null),
      () => (t.sensor(0).running = null),
      () => (t.sensor(1).running = null),
    ]
    const found = over.map((forget) => {
      const next = t.due(1000)
      forget()
      return next
    })
    expect(found).toEqual(['200 evict 0', '200 evict 1', '200 follow 0', '200 follow 1', '200 wake 0', '200 wake 1'])
    expect(t.due(1000)).toBeUndefined()
  })

  it.each<Execution['phase']>(['queued', 'rendering', 'behind', 'called', 'retrying'])(
    'is none of work that counts on the clock: %s',
    (phase) => {
      const t = task()
      t.waits('a', phase, 200)
      t.waits('c', phase, 200)
      expect(t.due(1000)).toBeUndefined()
    },
  )

  it.each<Execution['phase']>(['holding', 'paused'])('is none of an actuator, which follows the clock: %s', (phase) => {
    const t = task()
    t.waits('c', phase, 200)
    expect(t.due(1000)).toBeUndefined()
  })

  it('is no tick of a clock', () => {
    const t = task()
    t.sensor(0).ownTickAt = 200
    t.run.state.nextTickAt = 200
    expect(t.due(1000)).toBeUndefined()
  })
})
