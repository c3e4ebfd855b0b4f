import { describe, expect, it } from 'vitest'
import { Clocks } from '../../../src/core/engine/clocks.ts'
import { buildModel, limitsOf } from '../../../src/core/engine/model.ts'
import { Preparer } from '../../../src/core/engine/prepare.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import { earliestDue, expiredBy, resultsDueBy } from '../../../src/core/task/due-timer.ts'
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
  whole: undefined,
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
    Object.assign(begin(run, node, 1, ORIGIN, null), { phase, wakeAt })
  }
  const follows = (slot: number, at: number) => {
    const follow: Follow = { at, lag: 0, answer: ANSWER, invocation: 1, origin: ORIGIN, via: null }
    sensor(slot).follow = follow
  }
  const labels = (list: readonly { label: string }[]) => list.map(({ label }) => label).join(' ')
  const due = (time: number) => [labels(expiredBy(run, time)), labels(resultsDueBy(run, time))]
  return { run, sensor, waits, follows, due }
}

describe('the timers of a task', () => {
  it('are none before the task had anything to do', () => {
    const t = task()
    expect(earliestDue(t.run)).toBe(Infinity)
    expect(t.due(1e9)).toEqual(['', ''])
    expect(t.run.state.work).toBeNull()
  })

  it('are due at their time, and the earliest is found', () => {
    const t = task()
    t.sensor(0).evictAt = 501
    t.waits('b', 'holding', 200)
    expect(earliestDue(t.run)).toBe(200)
    expect([199, 200, 501].map(t.due)).toEqual([
      ['', ''],
      ['', 'b'],
      ['a', 'b'],
    ])
  })

  it('of one time are found together: evictions, what follows results, waits', () => {
    const t = task()
    t.waits('b', 'paused', 200)
    t.follows(0, 200)
    t.sensor(1).evictAt = 200
    t.sensor(0).evictAt = 200
    expect(t.due(200)).toEqual(['a b', 'a b'])
  })

  it.each<Execution['phase']>(['queued', 'rendering', 'behind', 'called', 'retrying', 'looping'])(
    'are none of work that counts on the clock: %s',
    (phase) => {
      const t = task()
      t.waits('a', phase, 200)
      t.waits('c', phase, 200)
      expect(earliestDue(t.run)).toBe(Infinity)
    },
  )

  it.each<Execution['phase']>(['holding', 'paused'])(
    'are none of an actuator, which follows the clock: %s',
    (phase) => {
      const t = task()
      t.waits('c', phase, 200)
      expect(earliestDue(t.run)).toBe(Infinity)
    },
  )

  it('are no ticks of clocks', () => {
    const t = task()
    t.sensor(0).ownTickAt = 200
    t.run.state.nextTickAt = 200
    expect(earliestDue(t.run)).toBe(Infinity)
  })
})
