import { describe, expect, it } from 'vitest'
import { KeptState } from '../../../src/core/columnar/kept-state.ts'
import { Readings } from '../../../src/core/task/readings/readings.ts'
import { TaskState } from '../../../src/core/task/task-state.ts'

describe('a kept state', () => {
  it('brings back what is known of readings, more than once', () => {
    const state = new TaskState({ sensors: [], gates: [], actuators: [] }, 1)
    const readings = new Readings(5, 0)
    readings.arrived('r', 5, 6)
    readings.mixed.add('r')
    state.readings = readings
    const kept = new KeptState(state)
    for (const time of [7, 8]) {
      state.readings.arrived('r', time, time)
      state.readings.took(time, time)
      state.readings.counts.late++
      state.readings.inRow.set('r', 1)
      state.readings.mixed.clear()
      kept.restore()
      const { newest, clock, counts, inRow, mixed } = state.readings
      expect([state.readings.time, clock, counts.late]).toEqual([5, 5, 0])
      expect([...newest]).toEqual([['r', { time: 5, lag: 1 }]])
      expect([[...inRow], [...mixed]]).toEqual([[], ['r']])
    }
  })
})
