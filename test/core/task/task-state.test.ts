import { describe, expect, it } from 'vitest'
import { Clocks } from '../../../src/core/engine/clocks.ts'
import { buildModel, limitsOf } from '../../../src/core/engine/model.ts'
import { Preparer } from '../../../src/core/engine/prepare.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import { restoreState } from '../../../src/core/task/restore.ts'
import { SILENT, type TaskRun } from '../../../src/core/task/run.ts'
import { saveState } from '../../../src/core/task/save.ts'
import { step } from '../../../src/core/task/step.ts'
import { TaskState } from '../../../src/core/task/task-state.ts'
import { gate, on, rule, trigger } from '../../support/rule-writing.ts'
import { ScriptedPlugs } from '../../support/scripted-plugs.ts'

const RULE = rule({
  sensors: { a: on('switch'), b: on('band') },
  actuators: ['act'],
  relations: [gate('both', 'AND', ['a', 'On'], ['b', 'In'])],
  triggers: [trigger('both', 'act')],
  task: { type: 'reactive' },
})

function newRun(): TaskRun {
  const prepared = new Preparer(createRegistry(new ScriptedPlugs().plugs)).prepare(RULE)
  const model = buildModel('t', prepared, ['r'], 0, limitsOf({}), new Clocks())
  return { model, state: new TaskState(model.graph, model.resources.length), sink: SILENT, now: 0, at: 0 }
}

function started(): TaskRun {
  const run = newRun()
  step(run, 5, { kind: 'start' })
  return run
}

const message = { kind: 'data', messages: [{ resource: 'r', value: 1 }], sent: undefined } as const

describe('the state of a task', () => {
  it('is empty before the first node and message', () => {
    const { model, state } = started()
    expect(state.work).toBeNull()
    expect(Object.keys(saveState(model, state).sensors)).toEqual(['a', 'b'])
    expect(state.shown().sensors.map((sensor) => sensor.state)).toEqual([-1, -1])
    expect(state.work).toBeNull()
  })

  it('is still empty after saving and restoring', () => {
    const { model, state } = started()
    const restored = newRun()
    restoreState(restored, saveState(model, state))
    expect(restored.state.work).toBeNull()
    expect(saveState(restored.model, restored.state)).toEqual(saveState(model, state))
  })

  it('keeps and shows added nodes', () => {
    const run = started()
    step(run, 6, message)
    expect(run.state.work?.inFlight.size).toBe(1)
    expect(run.state.shown()).toBe(run.state.work)
    expect(run.state.shown().sensors).toBe(run.state.sensors)
  })

  it('is empty again when it forgets its nodes; calls in flight have ended', () => {
    const run = started()
    step(run, 6, message)
    const flying = [...run.state.inFlight]
    run.state.forgetNodes()
    expect(run.state.work).toBeNull()
    expect(flying.map((execution) => execution.isInFlight)).toEqual([false])
  })
})
